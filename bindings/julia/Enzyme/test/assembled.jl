# Arrays put together of pieces, resized in their middle, of many dimensions; and what functions print.

both(f, x) = test_reverse(f, Active, (x, Duplicated)) && test_forward(f, Duplicated, (x, Duplicated))
of_number(f, x, v) = test_reverse(f, Active, (x, Active), (v, Duplicated)) && test_forward(f, Duplicated, (x, Duplicated), (v, Duplicated))
v3() = [0.3, 0.8, 1.1]
A23() = [4.0 1 0.5; 0.3 5 1]
counted(v) = sum(abs2.(v) .* (1:length(v)))

@testset "pieces" begin
    @test of_number((x, v) -> counted([x; v; 2x]), 0.3, v3())
    @test of_number((x, v) -> (M = [x 2x; x^2 1.0]; sum(M * M) * v[1]), 0.3, v3())
    @test of_number((x, v) -> (M = [x v'; v [1 2 3; 4 5 6; 7 8 9]]; sum(abs2, M * M)), 0.3, v3())
    @test both(A -> (M = [A -A; 2A A]; sum(abs2, M * M')), A23())
    @test both(v -> (M = [v A23()' 2v]; sum(abs2, M * [1, 2, 3, 4])), v3())
    @test both(v -> counted(repeat(v, inner = 2)), v3())
    @test both(A -> counted(vec(repeat(A, inner = (1, 2), outer = (2, 1)))), A23())
    for d in 1:2
        @test both(A -> counted(vec(maximum(A; dims = d))) + counted(vec(minimum(sin, A; dims = d))), A23())
    end
    @test both(A -> (e = exp.(A .- maximum(A; dims = 1)); sum(abs2, e ./ sum(e; dims = 1))), A23())
    @test test_reverse((A, b) -> counted(qr(A).Q * b) + counted(qr(A) \ b), Active, (permutedims(A23()), Duplicated), (v3(), Duplicated))
    # The same as without: what is added to Base's methods computes what these did.
    @test [1.0; [2.0, 3.0]; 4] == 1:4 && [1.0 2; 3 4] == reshape([1, 3, 2, 4], 2, 2) && [1.0 [2 3]; [4, 5] ones(2, 2)] == [1 2 3; 4 1 1; 5 1 1]
    @test repeat([1 2; 3 4], inner = (1, 2), outer = (2, 1)) == [1 1 2 2; 3 3 4 4; 1 1 2 2; 3 3 4 4]
    @test maximum([1.0 2; 3 4]; dims = 1) == [3 4] && isequal(minimum([1.0 NaN; 3 4]; dims = 2), reshape([NaN, 3], 2, 1))
    @test_throws ArgumentError [1.0 2; 3 4 5]
    @test_throws ArgumentError maximum(zeros(0, 3); dims = 1)
    @test qr(A23()).R ≈ triu(qr(A23()).R) && Matrix(qr(A23()).Q) * qr(A23()).R ≈ A23()
    F = qr(A23(), Val(true))
    @test F.Q * F.R ≈ A23()[:, F.p] && A23() * F.P ≈ A23()[:, F.p]
end

@testset "resized" begin
    @test both(v -> (w = deepcopy(v); w[1] *= 2; counted(w) * v[2]), v3())
    @test both(v -> (w = copy(v); insert!(w, 2, w[1] * w[2]); counted(w)), v3())
    @test both(v -> (w = v .^ 2; deleteat!(w, 2); counted(w) * splice!(w, 1) * w[1]), v3())
    @test both(v -> (q = copy(v); s = 0.0; for i in 1:5; x = popfirst!(q); s += x^2 * i; push!(q, x * q[1]); end; s + counted(q)), v3())
    @test both(v -> (q = Float64[]; for x in v; pushfirst!(q, x); push!(q, 2x); end; insert!(q, 3, v[1]); deleteat!(q, 1:2); counted(q)), v3())
    @test both(v -> (q = [v[1]]; prepend!(q, v); append!(q, v .* 2); filter!(x -> x > 0.4, q); counted(q)), v3())
    # References are moved with their shadows.
    @test both(v -> (q = [v .* 2, v]; popfirst!(q); sum(counted, q)), v3())
    @test both(v -> (q = [v .* 2]; pushfirst!(q, v); insert!(q, 2, v .^ 2); sum(i * counted(x) for (i, x) in enumerate(q))), v3())
    @test_throws BoundsError autodiff(Reverse, v -> (w = copy(v); insert!(w, 6, 1.0); sum(w)), Active, Duplicated(v3(), zeros(3)))
    @test_throws BoundsError autodiff(Reverse, v -> (w = copy(v); deleteat!(w, 4); sum(w)), Active, Duplicated(v3(), zeros(3)))
    @test_throws ArgumentError autodiff(Reverse, v -> (w = Float64[]; popfirst!(w) * v[1]), Active, Duplicated(v3(), zeros(3)))
end

@testset "sorted" begin
    # Before anybody has called it.
    @test gradient(Reverse, v -> (p = sortperm(v); v[p[1]] * v[p[2]]^2), [0.8, 0.3, 1.1])[1] ≈ [2 * 0.3 * 0.8, 0.8^2, 0.0]
    @test both(v -> (p = sortperm(v); counted(v[p] .* v)), [0.8, 0.3, 1.1])
    @test both(v -> counted(v[partialsortperm(v, 1:2)]) + partialsort(v, 2)^2 + counted(partialsort(v, 1:2; rev = true)), [0.8, 0.3, 1.1])
    @test both(v -> counted(v[sortperm(v; rev = true)]), [0.8, 0.3, 1.1])
    @test both(v -> counted(v[sort!(collect(1:3); by = i -> -v[i])]), [0.8, 0.3, 1.1])
    @test both(v -> counted(v[sortperm(v; by = x -> -x)]), [0.8, 0.3, 1.1])
    @test both(v -> counted(v[sortperm(1:3; by = i -> v[i])]), [0.8, 0.3, 1.1]) && both(v -> counted(v[sortperm(1:3; by = i -> v[i], rev = true)]), [0.8, 0.3, 1.1])
    @test both(v -> counted(sort(v; by = x -> -x)) * partialsort(v, 2), [0.8, 0.3, 1.1])
end

@testset "many dimensions" begin
    A222(v) = reshape([v; 2v; v[1:2]], 2, 2, 2)
    for d in 1:3
        @test both(v -> (A = A222(v); counted(vec(cat(A, permutedims(A, (3, 1, 2)), 3A; dims = d)))), v3())
    end
    @test both(v -> (A = A222(v); counted(vec(cat(A, A[:, :, 1]; dims = 3)))), v3())
    @test both(v -> (A = A222(v)[:, :, 1]; counted(vec(cat(A, 2A, reshape(v, 1, 3); dims = (1, 2))))), v3())
    # The same as without.
    @test size(cat(ones(2, 2), ones(2, 2); dims = (1, 3))) == (4, 2, 2) && size(cat(ones(2, 2, 1), zeros(2, 2, 3); dims = 3)) == (2, 2, 4)
    @test cat([1.0 2], [3.0 4]; dims = (2, 1)) == [1 2 0 0; 0 0 3 4]
    @test both(v -> (w = zeros(2, 2, 2, 2); w[1] = v[1]; w[2, 1, 2, 1] = v[2]^2; w[1, 2, 1, 1] += v[3]; sum(abs2, w)), v3())
    @test both(v -> (w = [v[i] * j * k * l for i in 1:2, j in 1:2, k in 1:2, l in 1:2]; sum(abs2, permutedims(w, (4, 3, 2, 1)) .* w)), v3())
end

@testset "printed" begin
    printing(f, x) = redirect_stdout(() -> autodiff(Reverse, f, Active, Active(x)), open("/dev/null", "w"))
    @test printing(x -> (println("x = ", x, " ", 2x); x^2), 3.0) == ((6.0,),)
    @test printing(x -> (println("x = $x $(sin(x))"); x^2), 3.0) == ((6.0,),)
    @test printing(x -> (@show(x, 2x); x^2), 3.0) == ((6.0,),)
    @test printing(x -> (s = Set([1, 2, 3]); 2 in s ? x^2 : x), 3.0) == ((6.0,),)
end
