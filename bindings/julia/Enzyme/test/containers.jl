# Copies of objects with all that they lead to, dictionaries of parameters and of functions, keywords from dictionaries, lists of several
# types, sparse matrices, parts of `lu`.

using SparseArrays

two(f, x) = test_reverse(f, Active, (x, Duplicated)) && test_forward(f, Duplicated, (x, Duplicated))
w3() = [1.3, -0.4, 2.2]
A33() = [4.0 1 0.5; 0.3 5 1; 0.2 0.7 6]

mutable struct Model
    a::Float64
    v::Vector{Float64}
end
struct Wrapped
    a::Float64
    m::Model
end
struct Place
    x::Float64
    y::Float64
end
mutable struct Grain
    at::Place
    mass::Float64
end
mutable struct Link
    value::Float64
    next::Union{Nothing,Link}
end
mutable struct Vertex
    value::Float64
    out::Vector{Vertex}
end
struct Loose
    x
    v::Vector{Float64}
end
struct Kept
    v::Vector{Float64}
end
Base.deepcopy_internal(k::Kept, ::IdDict) = k

function around(v)
    a = Vertex(v[1], Vertex[])
    push!(a.out, Vertex(v[2], [a]))
    c = deepcopy(a)
    c.value *= 2
    c.out[1].out[1] === c ? c.value * c.out[1].value * c.out[1].out[1].value + a.value : 0.0
end
function listed(v)
    n = nothing
    for x in v
        n = Link(x, n)
    end
    m, s, k = deepcopy(n), 0.0, 1
    m.value = 2.0
    while m !== nothing
        s += k * m.value^2
        m, k = m.next, k + 1
    end
    s + n.value
end

@testset "deepcopy" begin
    @test two(v -> (s = Wrapped(v[1], Model(v[2], [v[3], v[1]])); t = deepcopy(s); t.m.v .*= s.m.a; t.a * sum(t.m.v) + s.m.v[1]), w3())
    @test two(v -> (s = [Grain(Place(x, 2x), x^2) for x in v]; t = deepcopy(s); t[1].mass = 3.0; sum(q.at.x * q.at.y * q.mass for q in t) + s[1].mass), w3())
    @test two(v -> (d = Dict("a" => v[1:2], "b" => v[2:3]); e = deepcopy(d); e["a"][1] = 1.0; sum(e["a"]) * sum(d["a"]) * e["b"][1]), w3())
    # What is one object stays one.
    @test two(v -> (t = deepcopy([v, v]); t[1][1] = 5.0; sum(t[1] .* t[2])), w3())
    @test two(around, w3()) && two(listed, w3())
    @test two(v -> (u = deepcopy(Loose(Any[v, v[1], "text", 3], v)); u.x[1][1] = 3.0; u.x[2] * sum(u.x[1]) * u.x[4] + sum(u.v)), w3())
    @test two(A -> (D = deepcopy(Symmetric(A)); sum(D) * D[1, 2]), A33())
    @test_throws ArgumentError gradient(Reverse, v -> sum(deepcopy([Kept(v)])[1].v), w3())
    # Outside of derivatives it is Base's.
    k = Kept([1.0])
    @test deepcopy([k])[1] === k && deepcopy(Model(1.0, [2.0])).v == [2.0]
end

weighted(; a = 1.0, b = 2.0, c = 0.0) = a * b + c^2
const table = Dict(:sin => sin, :cos => cos)

@testset "dictionaries" begin
    @test two(v -> weighted(; Dict(:a => v[1], :b => v[2])...), w3())
    @test two(v -> weighted(; c = v[3], Dict(:a => v[1], :b => v[2])...) + weighted(; [:a => v[1], :c => v[3], :a => v[2]]...), w3())
    @test two(v -> table[:sin](v[1]) * table[:cos](v[2]), w3())
    @test two(v -> (T = Dict(:sin => sin, :cos => cos, :square => x -> x^2); T[:sin](v[1]) + T[:square](v[2])), w3())
    @test two(v -> (p = Dict{Symbol,Any}(:m => v[1], :name => "spring", :v => v); p[:m]^2 * sum(p[:v])), w3())
    @test two(v -> (d = Dict("a" => v[1], "name" => "x", "flag" => true); d["flag"] ? d["a"]^2 : 0.0), w3())
    @test two(v -> (d = Dict("p" => Dict("a" => v[1], "b" => v[2]), "q" => Dict("c" => v[3])); d["p"]["a"] * d["q"]["c"]), w3())
    # Of the types, and with the order, that Base gives them.
    @test typeof(Dict(:a => 1.0, :b => 2)) === typeof(Dict(Any[:a => 1.0, :b => 2])) && Dict{Symbol,Any}(:a => 1, :b => "x")[:b] == "x"
end

@testset "parts of lu" begin
    @test two(A -> ((L, U, p) = lu(A); sum(abs2, L) + sum(U .^ 2) + sum(L .* A[p, :])), A33())
    A = [1.0 2; 3 4; 5 7]
    F = lu(A)
    @test F.L * F.U ≈ A[F.p, :] && F.P * A == A[F.p, :] && size(F.L) == (3, 2)
end

abstract type Shape end
struct Disc <: Shape
    r::Float64
end
struct Box <: Shape
    a::Float64
    b::Float64
end
area(s::Disc) = pi * s.r^2
area(s::Box) = s.a * s.b

@testset "lists of several types" begin
    @test two(v -> sum(area, [Disc(v[1]), Box(v[2], v[3]), Disc(v[2])]) + sum(f(v[1]) for f in [sin, cos, x -> x^2]), w3())
    @test [Disc(1.0), Box(1.0, 2.0)] isa Vector{Shape} && [1, "a"] isa Vector{Any} && isequal([1, missing], Union{Int,Missing}[1, missing])
end

"A chain of springs, assembled from its elements, into which entries go several times."
function stiffness(k)
    I, J, V = Int[], Int[], Float64[]
    for e in 1:length(k), (a, b, s) in ((0, 0, 1.0), (0, 1, -1.0), (1, 0, -1.0), (1, 1, 1.0))
        push!(I, e + a), push!(J, e + b), push!(V, s * k[e])
    end
    x = collect(1.0:(length(k) + 1))
    dot(x, sparse(I, J, V) * x .^ 2)
end
const few = sparse([1, 2, 3, 1], [1, 2, 3, 3], [1.0, 2, 3, 4])

@testset "sparse matrices" begin
    @test two(stiffness, [1.0, 2.0, 1.5])
    @test two(v -> (A = sparse([1, 2, 1, 1], [1, 2, 1, 2], [v; v[1] * v[2]], 3, 3, *); sum(abs2, A' * v) + sum(spdiagm(0 => v, 1 => v[1:2]))), w3())
    @test two(v -> (A = copy(few); nonzeros(A) .= [v; 1.0]; sum(abs2, A * v) + sum(few * v)), w3())
end

"Heat in a rod: implicit steps."
function warmed(k)
    n, u = length(k), zeros(length(k))
    for _ in 1:3
        A = spdiagm(0 => 1 .+ 2 .* k, 1 => -k[1:n-1], -1 => -k[2:n])
        u = A \ (u .+ 1)
    end
    sum(abs2, u)
end

@testset "sparse equations" begin
    @test two(warmed, [1.3, 0.4, 2.2, 0.7])
    @test two(v -> sum(abs2, few \ v), w3())
    quotient(A, b) = sum(abs2, A \ b)
    dA, db = Enzyme.make_zero(few), zeros(3)
    autodiff(Reverse, quotient, Active, Duplicated(copy(few), dA), Duplicated([1.0, 2.0, 3.0], db))
    x = few \ [1.0, 2.0, 3.0]
    adjoint = Matrix(few)' \ 2x
    # Only entries that are there have derivatives.
    @test db ≈ adjoint && Matrix(dA) ≈ -(adjoint * x') .* (few .!= 0)
    @test_throws SingularException autodiff(Reverse, v -> sum(sparse([1, 2], [1, 2], [v[1], 0.0]) \ [1.0, 2.0]), Active, Duplicated(w3(), zeros(3)))
    @test_throws DimensionMismatch autodiff(Reverse, v -> sum(few \ v[1:2]), Active, Duplicated(w3(), zeros(3)))
    @test_throws Enzyme.EnzymeError autodiff(Reverse, v -> sum(lu(sparse([1, 2], [1, 2], v[1:2])) \ v[1:2]), Active, Duplicated(w3(), zeros(3)))
    # Outside of derivatives these are Base's own.
    @test sparse([1.0 0 0; 0 2 0]) \ [1.0, 2.0] ≈ [1.0, 1.0, 0.0]
end

# Closures that are handed on by reference: their words beside floats are integers.
@testset "comprehensions at run time" begin
    function forward_in_logs(p)
        total(x) = (m = maximum(x); m + log(sum(exp.(x .- m))))
        steps, a = log.([0.7 0.3; 0.4 0.6]), log.([0.5, 0.5])
        for seen in [0.1, 1.2]
            a = [total(a .+ steps[:, j]) - (seen - p[j])^2 for j in 1:2]
        end
        total(a)
    end
    @test two(forward_in_logs, [0.3, 0.1])
    @test two(v -> (A = reshape(repeat(v, 8), 3, 2, 2, 2); sum(sum(abs2, s) * s[1, 1, 1] for s in eachslice(A; dims = 4))), w3())
end

# Events in the order of their times, some of which lead to others.
function simulated(x)
    queue = Tuple{Float64,Int}[]
    for i in 1:length(x)
        push!(queue, (x[i]^2, i))
    end
    s = 0.0
    while !isempty(queue)
        sort!(queue)
        t, i = popfirst!(queue)
        s += t^2 * i
        i < 3 && push!(queue, (t + 0.5x[i], i + 3))
    end
    s
end

# Of any number of numbers: too long to stand in its callers.
softest(p...) = (m = minimum(p); m - log(sum(exp(m - q) for q in p)) / length(p))
function warped(x)
    R = fill(Inf, 3, 4)
    R[1, 1] = 0
    for j in 1:3, i in 1:2
        R[i+1, j+1] = (x[i] - sin(x[j]))^2 + softest(R[i, j+1], R[i+1, j], R[i, j])
    end
    R[3, 4]
end

@testset "queues, and functions of any number" begin
    @test two(simulated, [0.7, 0.3, 0.9])
    @test two(warped, w3())
    @test two(x -> softest(x...) + softest(x[1], x[2]), w3())
end
