# Structures by value and in memory, tuples, closures, inactive data.

struct Point{T}
    x::T
    y::T
end
mutable struct Ball
    position::Float64
    velocity::Float64
    hits::Int
end
struct Layer
    W::Matrix{Float64}
    b::Vector{Float64}
end
struct Model
    layers::Vector{Layer}
    scale::Float64
end
mutable struct Node
    value::Float64
    next::Union{Node,Nothing}
end
scaled_by(w) = v -> sum(w .* w .* v)
length2(p::Point) = p.x^2 + p.y^2

function bounce!(b::Ball, steps)
    for _ in 1:steps
        b.velocity -= 0.1
        b.position += 0.1 * b.velocity
        if b.position < 0
            b.position = -b.position
            b.velocity = -0.9 * b.velocity
            b.hits += 1
        end
    end
    b.position
end

@testset "by value" begin
    @test autodiff(Reverse, t -> t[1] * t[2], Active, Active((2.0, 3.0))) == (((3.0, 2.0),),)
    @test autodiff(Reverse, t -> t.a * t.b, Active, Active((a = 2.0, b = 3.0))) == (((a = 3.0, b = 2.0),),)
    @test autodiff(Reverse, length2, Active, Active(Point(2.0, 3.0))) == ((Point(4.0, 6.0),),)
    @test autodiff(Reverse, (t, x) -> t[1] * x + t[2], Active, Active((2.0, 7)), Active(3.0)) == (((3.0, 0), 2.0),)
    @test autodiff(Forward, p -> Point(p.x^2, p.x * p.y), Duplicated(Point(2.0, 3.0), Point(1.0, 0.0))) == (Point(4.0, 3.0),)
    @test autodiff(Forward, x -> (x, 2x), Duplicated(1.0, 1.0)) == ((1.0, 2.0),)
    @test autodiff(Forward, x -> (a = x, b = 2x), Duplicated(1.0, 1.0)) == ((a = 1.0, b = 2.0),)
    @test test_reverse(p -> sin(p.x) * exp(p.y), Active, (Point(0.3, 0.4), Active))
    @test test_reverse((p, q) -> length2(Point(p.x * q.y, p.y)), Active, (Point(0.3, 0.4), Active), (Point(0.5, 0.6), Active))
    @test test_forward(p -> length2(p), Duplicated, (Point(0.3, 0.4), Duplicated))
end

@testset "in memory" begin
    b, db = Ball(1.0, 0.0, 0), Ball(0.0, 0.0, 0)
    @test autodiff(Reverse, bounce!, Active, Duplicated(b, db), Const(3)) == ((nothing, nothing),)
    @test db.position == 1.0 && db.velocity ≈ 0.3
    @test test_reverse(b -> bounce!(b, 30), Active, (Ball(1.0, 0.0, 0), Duplicated))
    @test test_forward(b -> bounce!(b, 30), Duplicated, (Ball(1.0, 0.0, 0), Duplicated))
    ps = [Point(0.1, 0.2), Point(0.3, 0.4)]
    @test test_reverse(ps -> sum(length2, ps), Active, (ps, Duplicated))
    @test test_forward(ps -> sum(p -> p.x * p.y, ps), Duplicated, (ps, Duplicated))
    layer = Layer([0.1 0.2; 0.3 0.4], [0.5, 0.6])
    @test test_reverse((l, x) -> sum(tanh.(l.W * x .+ l.b)), Active, (layer, Duplicated), ([0.7, 0.8], Duplicated))
    @test test_forward((l, x) -> sum(tanh.(l.W * x .+ l.b)), Duplicated, (layer, Duplicated), ([0.7, 0.8], Duplicated))
    vs = [[1.0, 2.0], [3.0]]
    dvs = make_zero(vs)
    autodiff(Reverse, vs -> (s = 0.0; for v in vs; s += sum(abs2, v); end; s), Active, Duplicated(vs, dvs))
    @test dvs == [[2.0, 4.0], [6.0]]
    list = Node(0.5, Node(0.6, Node(0.7, nothing)))
    walk(n) = (s = 1.0; while n !== nothing; s *= n.value; n = n.next; end; s)
    dlist = make_zero(list)
    autodiff(Reverse, walk, Active, Duplicated(list, dlist))
    @test dlist.value ≈ 0.42 && dlist.next.value ≈ 0.35 && dlist.next.next.value ≈ 0.3
    r, dr = Ref(3.0), Ref(0.0)
    @test autodiff(Reverse, r -> r[]^2, Active, Duplicated(r, dr)) == ((nothing,),)
    @test dr[] == 6.0
    @test test_reverse(x -> bounce!(Ball(x, 2x, 0), 10), Active, (0.5, Active))
end

@testset "values with memory" begin
    m = Model([Layer([0.1 0.2; 0.3 0.4], [0.5, 0.6]), Layer([0.3 0.1; 0.2 0.4], [0.2, 0.1])], 0.7)
    run(m, x) = m.scale * sum(foldl((h, l) -> tanh.(l.W * h .+ l.b), m.layers; init = x))
    @test test_reverse(run, Active, (m, MixedDuplicated), ([0.3, 0.4], Duplicated))
    dm = Ref(make_zero(m))
    @test_throws Enzyme.EnzymeError autodiff(Reverse, run, Active, MixedDuplicated(m, dm), Const([0.3, 0.4]))
    autodiff(Reverse, run, Active, MixedDuplicated(m, dm), Duplicated([0.3, 0.4], zeros(2)))
    @test dm[].scale ≈ run(m, [0.3, 0.4]) / 0.7
    @test test_forward(run, Duplicated, (m, Duplicated), ([0.3, 0.4], Duplicated))
    @test test_reverse(t -> t[1] * sum(t[2]), Active, ((0.5, [1.0, 2.0]), MixedDuplicated))
end

@testset "closures" begin
    w = [2.0, 3.0]
    dx = zeros(2)
    autodiff(Reverse, v -> sum(w .* v), Active, Duplicated([1.0, 1.0], dx))
    @test dx == w
    f = scaled_by(w)
    df = make_zero(f)
    autodiff(Reverse, Duplicated(f, df), Active, Const([1.0, 2.0]))
    @test df.w == [4.0, 12.0]
    compose(f, g) = x -> f(g(x))
    @test test_reverse(compose(sin, x -> x^2), Active, (0.7, Active))
end

@testset "inactive data" begin
    @test autodiff(Reverse, (s, x) -> x * length(s), Active, Const("abc"), Active(2.0)) == ((nothing, 3.0),)
    @test autodiff(Reverse, (d, x) -> x * d["a"], Active, Const(Dict("a" => 3)), Active(2.0)) == ((nothing, 3.0),)
    @test autodiff(Reverse, (d, x) -> x * d[:b], Active, Const(Dict(:a => 3.0, :b => 4.0)), Active(2.0)) == ((nothing, 4.0),)
    @test autodiff(Reverse, (v, x) -> x * v[2], Active, Const([1, 5]), Active(2.0)) == ((nothing, 5.0),)
    @test autodiff(Reverse, (s, x) -> s === :double ? 2x : x, Active, Const(:double), Active(2.0)) == ((nothing, 2.0),)
    @test autodiff(Reverse, (n, x) -> n === nothing ? x : zero(x), Active, Const(nothing), Active(2.0)) == ((nothing, 1.0),)
end

struct Sized
    n::Int
    x::Float64
end
mutable struct Series
    n::Int
    last::Float64
    all::Vector{Float64}
    at::Vector{Int}
    name::String
end
struct Perhaps
    a::Union{Nothing,Float64}
    b::Union{Int,Float64}
    c::Bool
end
mutable struct Chained
    value::Union{Nothing,Float64}
    next::Union{Nothing,Chained}
    label
end

# What is no float in a tangent is that of the result.
@testset "tangents with integers" begin
    tangent(f, x = 2.0) = autodiff(Forward, f, Duplicated(x, 1.0))[1]
    @test tangent(x -> Sized(3, x^2)) === Sized(3, 4.0) && tangent(x -> (3, x^2, "a", true)) == (3, 4.0, "a", true)
    @test autodiff(Forward, x -> Sized(3, x^2), BatchDuplicated(2.0, (1.0, 2.0)))[1] == (var"1" = Sized(3, 4.0), var"2" = Sized(3, 8.0))
    @test tangent(x -> [Sized(3, x^2), Sized(5, x)]) == [Sized(3, 4.0), Sized(5, 1.0)] && tangent(x -> Any[Sized(3, x^2), 5, x]) == Any[Sized(3, 4.0), 5, 1.0]
    t = tangent(x -> Series(3, x^2, [x], [1, 2], "abc"))
    @test (t.n, t.last, t.all, t.at, t.name) == (3, 4.0, [1.0], [1, 2], "abc")
    @test tangent(x -> Perhaps(nothing, 3, true)) === Perhaps(nothing, 3, true) && tangent(x -> Perhaps(x^2, x, true)) === Perhaps(4.0, 1.0, true)
    @test tangent(x -> Perhaps(x > 1 ? x^2 : nothing, x > 1 ? 3 : x, x > 1)) === Perhaps(4.0, 3, true)
    t = tangent(x -> Chained(x^2, Chained(nothing, nothing, (3, x)), 7))
    @test t.value == 4.0 && t.label == 7 && t.next.value === nothing && t.next.label == (3, 1.0)
    d = tangent(x -> Dict(:a => x^2, :b => 3x))
    @test length(d) == 2 && d == Dict(:a => 4.0, :b => 3.0) && !haskey(d, :c)
    @test tangent(x -> Dict{String,Any}("a" => [x^2], "n" => 3, "c" => "text")) == Dict{String,Any}("a" => [4.0], "n" => 3, "c" => "text")
    @test autodiff(Forward, v -> view(v, 2:3), Duplicated([1.0, 2.0, 3.0], [1.0, 0.5, 0.25]))[1] == [0.5, 0.25]
    # Derivatives within derivatives are as before.
    @test autodiff(Forward, x -> autodiff(Forward, y -> Sized(4, y^3), Duplicated(x, 1.0))[1].x, Duplicated(2.0, 1.0)) == (12.0,)
    # Shadows of results in two sweeps.
    made(v) = Series(4, v[1]^2, v .* 2, [5], "q")
    first, back = autodiff_thunk(ReverseSplitWithPrimal, Const{typeof(made)}, Duplicated, Duplicated{Vector{Float64}})
    dv = zeros(2)
    tape, value, shadow = first(Const(made), Duplicated([3.0, 2.0], dv))
    @test (shadow.n, shadow.last, shadow.all, shadow.at, shadow.name) == (4, 0.0, [0.0, 0.0], [5], "q")
    shadow.last, shadow.all[2] = 1.0, 10.0
    back(Const(made), Duplicated([3.0, 2.0], dv), tape)
    @test dv == [6.0, 20.0]
end
