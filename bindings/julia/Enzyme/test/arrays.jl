# Arrays: read, written in place, made inside; views, broadcasting, comprehensions.

sum_of_squares(v) = (s = zero(eltype(v)); for x in v; s += x * x; end; s)
square!(y, x) = (for i in eachindex(x); y[i] = x[i]^2; end; nothing)
function relax!(u, steps)
    for _ in 1:steps, i in 2:(length(u) - 1)
        u[i] += 0.1 * (u[i-1] - 2u[i] + u[i+1]) + 0.01 * u[i]^2
    end
    nothing
end
x3() = [0.3, 0.8, 1.1]
m23() = [0.3 0.8 1.1; 0.2 0.5 0.9]

on(f, x) = test_reverse(f, Active, (x, Duplicated)) && test_forward(f, Duplicated, (x, Duplicated))
inside!(f, xs...) = test_reverse(f, Const, map(x -> (x, Duplicated), xs)...) && test_forward(f, Const, map(x -> (x, Duplicated), xs)...)

@testset "read" begin
    x, dx = [1.0, 2.0, 3.0], zeros(3)
    @test autodiff(Reverse, sum_of_squares, Active, Duplicated(x, dx)) == ((nothing,),)
    @test dx == [2.0, 4.0, 6.0]
    autodiff(Reverse, sum_of_squares, Active, Duplicated(x, dx))
    @test dx == [4.0, 8.0, 12.0] # added
    @test x == [1.0, 2.0, 3.0]
    @test autodiff(Reverse, sum_of_squares, Active, Const(x)) == ((nothing,),)
    @test on(sum, x3())
    @test on(prod, x3())
    @test on(maximum, x3())
    @test on(v -> v[2] * v[end], x3())
    @test on(v -> sum(abs2, v), x3())
    @test on(v -> sum(sin, v), x3())
    @test on(v -> mapreduce(x -> x^2, +, v), x3())
    @test on(v -> foldr((a, b) -> a * b + a, v), x3())
    @test on(v -> sum(x * y for (x, y) in zip(v, v)), x3())
    @test on(v -> sum(i * x for (i, x) in enumerate(v)), x3())
    @test on(v -> sum(v[i] * v[j] for i in 1:3 for j in 1:i), x3())
    @test on(m -> sum(m[i, j] * i * j^2 for i in 1:2, j in 1:3), m23())
    @test on(m -> sum(m[2, :]) * m[1, 3], m23())
    @test on(v -> @inbounds(v[1]) * v[2], x3())
    @test on(v -> begin
        s = 0.0
        @inbounds @simd for i in eachindex(v)
            s += v[i]^3
        end
        s
    end, rand(100))
    @test on(v -> Float64(sum(v .* v)), Float64.(x3()))
    @test test_reverse(v -> sum(v) * v[1], Active, (Float32[0.5, 0.25], Duplicated); rtol = 1e-1, atol = 0.2)
    @test on(t -> t[1, 2, 2] * t[2, 1, 1], reshape(collect(0.1:0.1:0.8), 2, 2, 2))
end

@testset "written" begin
    x, dx, y, dy = [1.0, 2.0, 3.0], zeros(3), zeros(3), ones(3)
    autodiff(Reverse, square!, Const, Duplicated(y, dy), Duplicated(x, dx))
    @test y == [1.0, 4.0, 9.0] && dx == [2.0, 4.0, 6.0] && dy == zeros(3)
    @test inside!(square!, zeros(3), x3())
    @test inside!(u -> relax!(u, 5), x3())
    @test inside!(u -> (u .= u .* u; nothing), x3())
    @test inside!((y, x) -> (y .+= 2 .* x .- sin.(y); nothing), x3(), [0.1, 0.2, 0.3])
    @test inside!((y, x) -> (copyto!(y, x); y[2] *= 2; nothing), zeros(3), x3())
    @test inside!((y, x) -> (fill!(y, x[1]); nothing), zeros(3), x3())
    @test inside!(x -> (reverse!(x); nothing), x3())
    @test inside!(x -> begin
        x[1], x[2] = x[2], x[1] * x[3]
        nothing
    end, x3())
    @test inside!((m, v) -> (m[1, :] .= v; nothing), m23(), x3())
    @test inside!((y, x) -> (map!(sin, y, x); nothing), zeros(3), x3())
    @test inside!((y, x) -> (for i in eachindex(x); y[i] += x[i] * y[i]; end; y), ones(3), x3())
    @test inside!(x -> (cumsum!(x, copy(x)); nothing), x3())
end

@testset "made inside" begin
    @test on(v -> sum(exp.(v) .* 2.0), x3())
    @test on(v -> sum([a * a for a in v]), x3())
    @test on(v -> (w = zeros(3); w .= v .* v; w[2]), x3())
    @test on(v -> (w = similar(v); square!(w, v); sum(w)), x3())
    @test on(v -> (w = copy(v); w[1] = 5.0; sum(w .* w)), x3())
    @test on(v -> sum(map(sin, v)), x3())
    @test on(v -> sum(v[2:3] .^ 2), x3())
    @test on(v -> sum(vcat(v, 2v) .^ 2), x3())
    @test on(v -> sum(reverse(v) .* v), x3())
    @test on(v -> sum(cumsum(v) .^ 2), x3())
    @test on(v -> sum(abs2, reshape(v, 1, 3)), x3())
    @test on(v -> (m = reshape(v, 3, 1); m[2, 1] * m[3]), x3())
    @test on(v -> sum(v .* v') , x3())
    @test on(v -> sum(m -> m^2, [v[i] * v[j] for i in 1:3, j in 1:2]), x3())
    @test on(v -> sum(filter(a -> a > 0.5, v)), x3())
    @test on(v -> (w = sort(v); w[1] * w[3]^2), x3())
    @test on(v -> begin
        w = Float64[]
        for a in v
            push!(w, a * a)
            push!(w, 2a)
        end
        sum(w) * w[end]
    end, x3())
    @test on(v -> begin
        w = [v, 2 .* v]
        sum(w[1] .* w[2])
    end, x3())
    @test on(v -> sum(collect(a^2 for a in v)), x3())
    @test on(m -> sum(m .+ [1.0, 2.0]), m23())
    @test on(m -> sum(transpose(m) .^ 2), m23())
    @test on(m -> sum(permutedims(m)[1, :] .^ 2), m23())
    @test on(m -> sum(sum(m; dims = 1) .^ 2), m23())
    @test on(v -> begin
        a, b = v
        a * b
    end, x3())
    @test on(v -> sum(v ./ sum(v) .* [1.0, 2.0, 3.0]), x3())
    @test autodiff(Forward, v -> v .* v, Duplicated([1.0, 2.0], [1.0, 0.5])) == ([2.0, 2.0],)
    @test autodiff(ForwardWithPrimal, v -> 2v, Duplicated([1.0, 2.0], [1.0, 0.5])) == ([2.0, 1.0], [2.0, 4.0])
end

@testset "views" begin
    @test on(v -> sum(view(v, 2:3) .^ 2), x3())
    @test on(v -> sum(@view v[1:2:3]), x3())
    @test on(m -> sum(abs2, @view m[:, 2]), m23())
    @test on(m -> (c = view(m, 1, :); c[1] * c[3]), m23())
    @test inside!(v -> (w = @view v[1:2]; w .*= 2; w[1] = w[2]^2; nothing), x3())
    @test on(v -> sum(sum, eachcol(reshape(v, 1, 3))), x3())
end
