# What Julia only knows at run time: variables that closures assign, calls with the elements of arrays, functions and numbers in containers of anything, fields
# and global variables without type; and values of a few types.

both(f, x) = test_reverse(f, Active, (x, Duplicated)) && test_forward(f, Duplicated, (x, Duplicated))
v3() = [1.3, -0.4, 2.2]
A23() = [4.0 1 0.5; 0.3 5 1]

@testset "variables that closures assign" begin
    @test both(v -> (s = 0.0; foreach(x -> (s += x * x), v); s), v3())
    @test both(v -> (s::Float64 = 0.0; foreach(x -> (s += x * x), v); s), v3())
    @test both(v -> (n = 0; s = 0.0; foreach(x -> (n += 1; s += n * x^2), v); s / n), v3())
    @test both(v -> (a = v[1]; if v[2] < 0; a = v[3]; end; sum(x -> a * x, v)), v3())
    @test both(v -> (s = 0.0; for i in 1:20; foreach(x -> (s = 0.9s + sin(x * i)), v); end; s), v3())
    @test both(v -> (u = copy(v); step = () -> (u = u .+ 0.1 .* u .^ 2); for _ in 1:5; step(); end; sum(u)), v3())
    @test both(v -> (power(n, y) = n == 0 ? one(y) : y * power(n - 1, y); power(3, v[1]) + v[2]), v3())
    # `true` and `false` are known by their addresses.
    @test both(v -> (n = 0; s = 0.0; f = () -> (n += 1; s += v[1] * n; n < 5 ? f() : s); f()), v3())
    @test both(v -> (y = nothing; foreach(x -> (y = x), v); y), v3())
    @test both(v -> (s = 0.0; map(v) do x
        s += sin(x)
    end; s), v3())
end

product(a, b, c) = a * b + sin(c)
named(; a, b) = a * b^2

@testset "elements as arguments" begin
    @test both(v -> product(v...), v3())
    @test both(v -> max(v...) - min(v...)^2 + +(v...) * hypot(v[1:2]...), v3())
    @test both(v -> +((x^2 for x in v)...) + max((sin(x) for x in v)...), v3())
    @test_throws Enzyme.EnzymeError autodiff(Reverse, v -> +((x^2 for x in v if x > 0)...), Active, Duplicated(v3(), zeros(3)))
    @test both(v -> Base.invokelatest(*, v[1], v[2]) + invoke(*, Tuple{Float64,Float64}, v[1], v[2]), v3())
    @test both(v -> (h(a, b...) = a * sum(b); h(v[2], v...)), v3())
    @test both(v -> (given = (a = v[1], b = v[2]); named(; given...)), v3())
    @test both(v -> (M = hcat([v, 2v, v .^ 2]...); sum(M * M)), v3())
    @test both(v -> (w = vcat([v, 2v, v .^ 2]...); sum(w .* w)), v3())
    for d in 1:3
        @test both(v -> (M = cat(v, v .^ 2; dims = d); sum(abs2, M)), v3())
    end
    @test both(A -> (M = cat(A, 2A; dims = Val(1)); sum(M * A')), A23())
    @test_throws DimensionMismatch autodiff(Reverse, v -> sum(cat(v, v[1:2]; dims = 2)), Active, Duplicated(v3(), zeros(3)))
    @test both(v -> mapreduce(*, +, v, 2v), v3())
end

struct Anything
    f
    v
end
mutable struct Sum
    s
    n
end
struct Abstract
    a::AbstractVector
    b::Real
end
mutable struct Dense
    W::Matrix{Float64}
    activation::Function
end
add!(a, x) = (a.s += x^2; a.n += 1)

@testset "containers and fields of anything" begin
    @test both(v -> Anything(cos, v).f(v[1]) * Anything(cos, v).v[2], v3())
    @test both(v -> (a = Sum(0.0, 0); foreach(x -> add!(a, x), v); a.s / a.n), v3())
    @test both(v -> (p = Abstract(v, v[1]); sum(p.a) * p.b), v3())
    @test both(v -> (l = Dense(A23(), tanh); sum(l.activation.(l.W * v)) + sum(map(l.activation, v))), v3())
    @test both(v -> sum(f(v[1]) for f in (sin, cos, exp)), v3())
    @test both(v -> (y = v; for l in Any[w -> tanh.(w), w -> w .* [1, 2, 3], sum]; y = l(y); end; y), v3())
    @test both(v -> foldl((w, l) -> l(w), Any[w -> tanh.(w), w -> w .^ 2, sum]; init = v), v3())
    @test both(v -> (d = Dict{String,Any}("w" => v, "b" => v[1], "n" => 3); sum(d["w"]) * d["b"] * d["n"]), v3())
    @test both(v -> (a = Any[v[1], 2, v[3]]; a[1] * a[2] + a[3]^2), v3())
    @test both(v -> sum(Real[v[1], 2, v[3]]) * prod(Number[v[1], v[2]]), v3())
    @test both(v -> (r = []; for x in v; push!(r, x^2); end; sum(r)), v3())
    @test both(A -> sum(prod(r) for r in eachrow(A)) + sum(norm(c) for c in eachcol(A)), A23())
    @test both(v -> sum(ntuple(i -> v[i]^i, 3)), v3())
    @test both(v -> sum(sum(x * y for x in v) for y in v), v3())
    # What is changed where it lies.
    @test both(v -> (c = Any[copy(v)]; w = identity(c[1]); w[1] = w[2] * w[3]; c[1][2] *= 2.0; sum(w)), v3())
    @test both(v -> (w = copy(v); for f in Any[w -> (w[1] *= w[2]; nothing), w -> (w .= w .^ 2; nothing)]; f(w); end; sum(w)), v3())
end

number_of_program = 2.5
array_of_program = [1.0, 2.0, 3.0]
function_of_program = sin
allocates_of_program = zeros

@testset "global variables without type" begin
    @test both(v -> number_of_program * v[1] + v[2]^2, v3())
    @test both(v -> function_of_program(v[1]) * v[2], v3())
    @test both(v -> sum(array_of_program .* v), v3())
    @test both(v -> dot(array_of_program, v)^2, v3())
    @test both(v -> (s = 0.0; foreach(i -> (s += array_of_program[i] * v[i]^2), 1:3); s), v3())
    @test both(v -> (w = allocates_of_program(2); w[1] = v[1]^2; w[2] = v[2] * w[1]; sum(w)), v3())
    @test array_of_program == [1, 2, 3]
end

weighted(v, w) = (s = 0.0; foreach(i -> (s += w[i] * v[i]^2), 1:3); s)
affine(v, m) = (y = Any[m.f, v]; sum(abs2, y[1] * y[2] .+ m.v))

@testset "constants beside them" begin
    for mode in (Reverse, set_runtime_activity(Reverse))
        w, dv = [1.0, 2.0, 3.0], zeros(3)
        autodiff(mode, weighted, Active, Duplicated(v3(), dv), Const(w))
        @test dv ≈ 2 .* w .* v3() && w == [1, 2, 3]
        m, dv = Anything(A23(), [1.0, 2.0]), zeros(3)
        autodiff(mode, affine, Active, Duplicated(v3(), dv), Const(m))
        @test dv ≈ 2 .* m.f' * (m.f * v3() + m.v) && m.f == A23() && m.v == [1, 2]
    end
    @test autodiff(Forward, weighted, Duplicated(v3(), [1.0, 0, 0]), Const([1.0, 2, 3]))[1] ≈ 2.6
    m, dm = Anything(A23(), [1.0, 2.0]), Anything(zeros(2, 3), zeros(2))
    autodiff(Reverse, affine, Active, Const(v3()), Duplicated(m, dm))
    @test dm.v ≈ 2 .* (m.f * v3() + m.v) && dm.f ≈ 2 .* (m.f * v3() + m.v) * v3()'
end

cubes(v) = (s = 0.0; foreach(x -> (s += x^3), v); s)
all_cubes(v) = (w = zeros(3); i = 0; foreach(x -> (i += 1; w[i] = x^3 * v[1]), v); w)
first_above(v) = (for x in v; x > 2 && return x; end; nothing)
collects(full) = ccall(:jl_gc_collect, Cvoid, (Cint,), full ? 1 : 0)

@testset "all ways to ask" begin
    @test gradient(Reverse, cubes, v3())[1] ≈ gradient(Forward, cubes, v3())[1] ≈ 3 .* v3() .^ 2
    @test jacobian(Reverse, all_cubes, v3())[1] ≈ jacobian(Forward, all_cubes, v3())[1]
    forward, back = autodiff_thunk(ReverseSplitWithPrimal, Const{typeof(cubes)}, Active, Duplicated{Vector{Float64}})
    dv = zeros(3)
    tape, value, _ = forward(Const(cubes), Duplicated(v3(), dv))
    GC.gc()
    back(Const(cubes), Duplicated(v3(), dv), 2.0, tape)
    @test dv ≈ 6 .* v3() .^ 2 && value ≈ cubes(v3())
    @test autodiff(ReverseWithPrimal, x -> Any[x, "text"][1], Active(2.0)) == ((1.0,), 2.0)
    @test autodiff(Forward, x -> Any[x, 3.0][2], Duplicated(2.0, 1.0)) == (0.0,)
    # Two sweeps, or one, while the collector runs.
    @test both(v -> (s = 0.0; a = Any[]; for i in 1:10; foreach(x -> (s = 0.9s + sin(x * i)), v); push!(a, v .* s); collects(i % 3 == 0); end; collects(true); s + sum(sum, a)), v3())
    for _ in 1:300
        autodiff(Reverse, cubes, Active, Duplicated(v3(), dv .= 0))
    end
    @test dv ≈ 3 .* v3() .^ 2 && GC.enable(true)
end

mutable struct Optional
    a::Union{Nothing,Float64}
    b::Float64
end

@testset "one of a few types" begin
    @test both(v -> (x = first_above(v); x === nothing ? 0.0 : x^2), v3())
    @test both(v -> (o = Optional(nothing, v[1]); v[2] < 0 && (o.a = v[3]); (o.a === nothing ? 1.0 : o.a) * o.b), v3())
    @test both(v -> (f(v; scale = nothing) = scale === nothing ? sum(v) : scale * sum(v); f(v; scale = v[1]) + f(v)), v3())
    @test both(v -> (i = findfirst(x -> x > 2, v); i === nothing ? 0.0 : v[i]^2), v3())
    @test both(v -> (s = 0; for x in v; s += x; end; s^2), v3())
    @test both(v -> coalesce(v[2] > 0 ? missing : v[1], 1.0)^2, v3())
    # As results.
    @test autodiff(Forward, first_above, Duplicated(v3(), [1.0, 2.0, 3.0])) == (3.0,)
    @test autodiff(ForwardWithPrimal, first_above, Duplicated([1.0], [1.0])) == (nothing, nothing)
    dv = zeros(3)
    autodiff(Reverse, first_above, Active, Duplicated(v3(), dv))
    @test dv == [0, 0, 1]
    @test_throws ArgumentError autodiff(Reverse, first_above, Active, Duplicated([1.0], [0.0]))
end

# What is kept for the collector while such a call is made ended the process.
@testset "powers and pointers of functions beside objects" begin
    @test both(v -> (fs = Any[x -> 2.0^x, x -> x^2.3]; s = 0.0; foreach(f -> (s += f(v[3])), fs); r = Ref{Any}(v[1]); a = r[]; GC.@preserve r a (2.0^(a::Float64) * s)), v3())
    counts = @cfunction(n -> nothing, Cvoid, (Ptr{Int},))
    @test autodiff(Reverse, (x, q) -> (n = Ref(3); ccall(q, Cvoid, (Ptr{Int},), n); n[] * x), Active, Active(1.5), Const(counts)) == ((3.0, nothing),)
end

"A batch in both modes gives in each lane what that alone gives: in the result, and in what the function leaves in its argument."
function same_in_lanes(f, x)
    units = (map(i -> 0.3 + 0.2i, x), map(i -> 1 - 0.7i^2, x), zero(x))
    fresh() = map(copy, units)
    alone = map(d -> (d = copy(d); t = autodiff(Forward, f, Duplicated(copy(x), d))[1]; (t, d)), units)
    together = fresh()
    t = autodiff(Forward, f, BatchDuplicated(copy(x), together))[1]
    all(n -> t[n] ≈ alone[n][1] && together[n] ≈ alone[n][2], 1:3) || return false
    alone[1][1] isa Float64 || return true
    back, backs = map(d -> (d = copy(d); autodiff(Reverse, f, Active, Duplicated(copy(x), d)); d), units), fresh()
    autodiff(Reverse, f, Active, BatchDuplicated(copy(x), backs))
    all(n -> backs[n] ≈ back[n], 1:3) && gradient(Forward, f, x)[1] ≈ gradient(Reverse, f, x)[1] && gradient(Forward, f, x; chunk = Val(2))[1] ≈ gradient(Reverse, f, x)[1]
end
mutable struct Trail
    seen::Vector{Any}
    last
end
keep!(t::Trail, x) = (push!(t.seen, x); t.last = x; length(t.seen))
const scales = [2.0, 3.0]
doubled!(v) = (v .*= 2; v)

@testset "several lanes" begin
    @test same_in_lanes(v -> (s = 0.0; foreach(x -> (s += x * x), v); s), v3())
    @test same_in_lanes(v -> (s = 0.0; n = 0; for x in Any[v[1], 2, v[2]]; n += 1; s += x^2 * n; end; s), v3())
    # What is called changes memory, once.
    @test same_in_lanes(v -> (f = Any[doubled!]; f[1](v); f[1](v); v .* v), v3())
    @test same_in_lanes(v -> (t = Trail([], 0.0); k! = Any[keep!][1]; for x in v; k!(t, x); end; k!(t, v .^ 2); t.last[1] * t.seen[2] * length(t.seen)), v3())
    # Memory without derivative has a shadow in each lane, which takes up what is put into it.
    @test same_in_lanes(v -> (w = zeros(3); f = Any[(w, x) -> (w .+= x; w), w -> sum(w .* scales[1])]; f[1](w, v); f[1](w, v[2]); f[2](w)), v3())
    @test same_in_lanes(v -> (d = Dict{Symbol,Any}(:a => 1.0, :b => [1.0, 2.0, 3.0]); d[:a] *= v[1]; d[:b] = d[:b] .* v; d[:a] * sum(d[:b])), v3())
    # A call within a call.
    @test same_in_lanes(v -> (power(n, y) = n == 0 ? one(y) : y * power(n - 1, y); power(3, v[1]) * power(2, v[2])), v3())
    # Arrays, and functions, as results.
    @test same_in_lanes(v -> (f = Any[x -> x .^ 2, x -> [sum(x); x]]; f[2](f[1](v))), v3())
    @test same_in_lanes(v -> (f = Any[a -> (x -> a * x .^ 2)]; f[1](v[1])(v)), v3())
    @test same_in_lanes(v -> (v[1] > 0 ? Any[v[1], 1][1] : 1) * Any[1, 2.0][1] * v[2], v3())
    # Numbers and constants as results, and exceptions.
    @test same_in_lanes(v -> (r = try
        Any[sqrt][1](v[2])
    catch
        Any[x -> x^2][1](v[2])
    end; r * v[1]), v3())
    f = v -> [(s = 0.0; foreach(x -> (s += x^k), v); s) for k in 1:3]
    @test jacobian(Forward, f, v3())[1] ≈ [1 1 1; 2.6 -0.8 4.4; 3 * 1.69 3 * 0.16 3 * 4.84]
    @test jacobian(Reverse, f, v3())[1] ≈ jacobian(Forward, f, v3())[1]
    # A constant that is changed, and activity that is found out.
    g = (v, w) -> (h = Any[(a, b) -> (b .*= 2; sum(a .* b))]; h[1](v, w))
    w = [1.0, 2.0, 3.0]
    @test values(autodiff(Forward, g, BatchDuplicated(v3(), ([1.0, 0, 0], [0, 1.0, 0])), Const(w))[1]) == (2.0, 4.0) && w == [2.0, 4.0, 6.0]
    for mode in (Forward, set_runtime_activity(Forward))
        h = (v, w) -> (k = Any[(a, b) -> sum(a .* b), v, w]; k[1](k[2], k[3]))
        @test values(autodiff(mode, h, BatchDuplicated(v3(), ([1.0, 0, 0], [0, 1.0, 0])), Const([2.0, 3.0, 4.0]))[1]) == (2.0, 3.0)
    end
end
