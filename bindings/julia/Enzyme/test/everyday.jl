# What people write every day: random numbers with a seed, literals of mixed numbers, keywords, text, dictionaries, complex matrices, arrays of structures.

using Random

two(f, x) = test_reverse(f, Active, (x, Duplicated)) && test_forward(f, Duplicated, (x, Duplicated))
number(f, x) = test_reverse(f, Active, (x, Active)) && test_forward(f, Duplicated, (x, Duplicated))
w3() = [1.3, -0.4, 2.2]
M23() = [4.0 1 0.5; 0.3 5 1]

@testset "random numbers" begin
    @test two(v -> (rng = MersenneTwister(1); sum(v .* rand(rng, 3) .+ randn(rng, 3) .* v .^ 2)), w3())
    @test two(v -> (Random.seed!(3); sum(v .* rand(3)) + rand() * v[1]), w3())
    @test two(v -> (rng = MersenneTwister(1); p = randperm(rng, 3); dot(v[p], [1.0, 2.0, 3.0]) + v[rand(rng, 1:3)]), w3())
    option(m, s) = (rng = MersenneTwister(7); paid = 0.0; for _ in 1:100; paid += max(m * exp(s * randn(rng)) - 1, 0.0); end; paid / 100)
    @test test_reverse(option, Active, (1.1, Active), (0.3, Active)) && test_forward(option, Duplicated, (1.1, Duplicated), (0.3, Duplicated))
    # A number of GMP's, which holds no derivative.
    @test autodiff(Reverse, (x, n) -> x * Float64(n), Active, Active(1.3), Const(big(7))) == ((7.0, nothing),)
end

powered(x; p = 2, s = 1.0) = s * x^p

@testset "literals and keywords" begin
    @test two(v -> sum([v[1], 2, 3] .* [1, v[2], v[3]]), w3())
    @test two(A -> sum(UpperTriangular(A[:, 1:2]) \ [1, 2.0]) + sum(LowerTriangular(A[:, 1:2]) * [1.0, 2]), M23())
    @test two(v -> sum(SymTridiagonal(v .+ 9, v[1:2]) \ [1.0, 2, 3]) + sum(Bidiagonal(v, v[1:2], :L) \ [1.0, 2, 3]), w3())
    captured(x; p = 2, s = 1.0) = s * x^p
    @test number(x -> captured(x; p = 3, s = x), 1.3)
    @test number(x -> powered(x; (p = 3, s = x)...), 1.3)
    @test number(x -> modf(x)[1] * modf(2x)[2], 1.3) && modf(-2.0) === (-0.0, -2.0)
    @test autodiff(Forward, modf, Duplicated(-2.25, 1.0))[1] == (1.0, 0.0)
end

@testset "text and dictionaries" begin
    @test autodiff(Reverse, (x, s) -> x * parse(Float64, split(s, ",")[2]) * length(split(s, ",")), Active, Active(1.3), Const("a,2.5")) == ((5.0, nothing),)
    @test two(v -> (D = Dict("a" => v[1], "b" => v[2]); D["c"] = D["a"] * D["b"]; D["a"] += v[3]; sum(values(D))), w3())
    @test two(v -> (D = Dict(i => (a = v[i], b = v) for i in 1:3); sum(x.a * x.b[2] for x in values(D))), w3())
    @test two(v -> (D = Dict{String,Vector{Float64}}(); for i in 1:3; push!(get!(D, isodd(i) ? "o" : "e", Float64[]), v[i]); end; sum(prod, values(D))), w3())
end

struct Body
    mass::Float64
    at::Vector{Float64}
end

@testset "arrays of structures that hold arrays" begin
    @test two(v -> (w = [(x, [x, 2x]) for x in v]; sum(t[1] * sum(t[2]) for t in w)), w3())
    @test two(v -> (b = [Body(x, [x, v[1]]) for x in v]; push!(b, Body(1.0, v)); b[1] = Body(2.0, b[2].at); GC.gc(); sum(p.mass * sum(abs2, p.at) for p in b)), w3())
    @test two(v -> (b = Body[]; for x in v; push!(b, Body(x, v .* x)); end; s = 0.0; for p in b, q in b; s += p.mass * dot(p.at, q.at); end; s), w3())
    made(v) = [Body(x, v .* x) for x in v]
    tangent = autodiff(Forward, made, Duplicated(w3(), [1.0, 0.0, 0.0]))[1]
    GC.gc()
    @test tangent[1].mass == 1 && tangent[1].at ≈ [2.6, -0.4, 2.2] && tangent[2].mass == 0 && tangent[2].at ≈ [-0.4, 0, 0]
end

@testset "parts of arrays" begin
    @test two(A -> sum(mapslices(sum, A; dims = 1) .^ 2) + sum(mapslices(x -> x ./ sum(x), A; dims = 2) .* A), M23())
    @test two(A -> sum(mapslices(x -> x * x', A; dims = (1, 2))) + sum(mapslices(x -> x[1:2], A; dims = [2]) .^ 2) + sum(mapslices(cumsum, A; dims = 1) .^ 2), M23())
    @test two(A -> sum(diagm(0 => A[1, 1:2], 1 => A[1, 2:2]) .^ 2), M23())
    @test two(A -> sum(prod(r) for r in eachslice(A; dims = 2)) + sum(r[1]^2 for r in eachslice(A; dims = 1)), M23())
    @test [sum(s) for s in eachslice(reshape(1.0:8.0, 2, 2, 2) |> collect; dims = 3)] == [10, 26]
    @test two(A -> (B = sortslices(A; dims = 1); sum(B[1, :] .* [1, 2, 3])), M23()) && two(A -> (B = sortslices(A; dims = 2, by = c -> c[2]); sum(B[:, 1] .* [1, 2])), M23())
    A = M23()
    @test mapslices(cumsum, A; dims = 1) == cumsum(A; dims = 1) && mapslices(sum, A; dims = 2) == sum(A; dims = 2)
    @test diagm(1 => [1.0, 2.0], -1 => [3.0]) == [0 1.0 0; 3.0 0 2.0; 0 0 0]
end

C23() = [1.0+0.5im 0.3-0.2im 0.1im; 0.4 1.5+1im -0.7im]
C32() = [0.2+0.1im 0.5; -0.3im 1.1+0.4im; 0.7 0.2-0.9im]
c3() = [1.3 + 0.4im, 0.2 - 0.7im, -0.5 + 0.1im]

mutable struct Momentum
    w::Vector{Float64}
    m::Union{Nothing,Vector{Float64}}
    rate::Float64
end
function update!(o::Momentum, g)
    o.m === nothing && (o.m = zero(g))
    o.m .= 0.9 .* o.m .+ g
    o.w .-= o.rate .* o.m
    o
end
descended(w, rate) = (o = Momentum(copy(w), nothing, rate); for _ in 1:4; update!(o, 2 .* o.w .+ sin.(o.w)); end; sum(o.w))

@testset "fields that are filled later" begin
    @test test_reverse(descended, Active, (w3(), Duplicated), (0.1, Active)) && test_forward(descended, Duplicated, (w3(), Duplicated), (0.1, Duplicated))
end

@testset "single precision" begin
    @test test_reverse(v -> sum(v .^ 2) * sin(v[1]), Active, (Float32[1.3, 0.4], Duplicated)) && test_forward(v -> sum(v .^ 2) * sin(v[1]), Duplicated, (Float32[1.3, 0.4], Duplicated))
    @test test_reverse((x, y) -> x^2 * y, Active, (1.3f0, Active), (0.4f0, Active))
    wrong(x) = x > 1.3f0 ? x^2 : 0.9f0 * x^2
    @test_throws ErrorException test_reverse(wrong, Active, (1.3f0, Active))
end

@testset "complex matrices" begin
    @test two(z -> abs2(sum(z .^ 2)) + norm(z) + real(dot(z, z .* (1 + 2im))) + norm(z, 1), c3())
    @test two(z -> (y = copy(z); axpy!(2.0 + 1im, z, y); rmul!(y, 1im); real(transpose(z) * y) + real(BLAS.dotu(z, y)) + BLAS.asum(y)), c3())
    both_ways(A, z) = sum(abs2, A' * (A * z)) + imag(sum(transpose(A) * (A * z)))
    @test test_reverse(both_ways, Active, (C23(), Duplicated), (c3(), Duplicated)) && test_forward(both_ways, Duplicated, (C23(), Duplicated), (c3(), Duplicated))
    products(A, B) = sum(abs2, A * B) + real(sum(A' * B')) + imag(sum(transpose(B) * B)) + real(sum(B' * B * [1.0 2im; 3 4]))
    @test test_reverse(products, Active, (C23(), Duplicated), (C32(), Duplicated)) && test_forward(products, Duplicated, (C23(), Duplicated), (C32(), Duplicated))
    @test two(z -> (A = [z[1] * i * j + z[2] * (i - j) * im + z[3] for i in 1:20, j in 1:20]; B = A' * A; real(sum(B .* A)) + norm(A) + real(tr(A * A'))), c3())
end

function each_in_threads!(f, y, x)
    Threads.@threads for i in eachindex(x)
        y[i] = f(x[i])
    end
    y
end
function summed_in_threads(v)
    sums = zeros(Threads.nthreads())
    Threads.@threads for i in 1:length(v)
        sums[Threads.threadid()] += v[i]^2
    end
    sum(sums)
end
function nested_threads(A)
    B = zeros(2, 3)
    Threads.@threads for i in 1:2
        Threads.@threads for j in 1:3
            B[i, j] = A[i, j]^2 * i
        end
    end
    sum(B .* A)
end
function scaled_in_threads!(y, v)
    Threads.@threads for i in 1:length(v)
        y[i] *= v[i]
    end
    nothing
end

@testset "threads" begin
    @test two(v -> sum(abs2, each_in_threads!(sin, similar(v), v)) + sum(each_in_threads!(x -> x * v[1], similar(v), v)), w3())
    @test two(summed_in_threads, w3()) && two(nested_threads, M23())
    @test two(v -> (s = [v[1]]; each_in_threads!(sin, s, Float64[]); s[1]^2), w3())
    @test test_reverse(scaled_in_threads!, Const, (w3(), Duplicated), (w3(), Duplicated)) && test_forward(scaled_in_threads!, Const, (w3(), Duplicated), (w3(), Duplicated))
    @test_throws BoundsError gradient(Reverse, v -> sum(each_in_threads!(sin, zeros(2), v)), w3())
    # Outside of derivatives it is Base's.
    @test each_in_threads!(sin, zeros(3), w3()) == sin.(w3())
    @test_throws Union{TaskFailedException,BoundsError} each_in_threads!(sin, zeros(2), w3())
end

function reported(v)
    s = 0.0
    for (n, x) in enumerate(v)
        s += x^2
        x < 0 && @warn "negative" n x
        @info "step $n" s maxlog = 2
        @debug "sum" s
    end
    s > 1e6 && @error "too large: $s" v
    s
end

@testset "messages" begin
    # None within a derivative.
    @test_logs @test gradient(Reverse, reported, w3())[1] == gradient(Forward, reported, w3())[1] == 2w3()
    @test_logs (:warn, "negative") (:info, "step 1") min_level = Base.CoreLogging.Info match_mode = :any reported(w3())
end
