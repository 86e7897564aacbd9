# Iterators, reductions and containers as people use them, where what is called, or of which type its result is, comes out when the program runs.

differentiable(f, x) = test_reverse(f, Active, (x, Duplicated)) && test_forward(f, Duplicated, (x, Duplicated))
three() = [1.3, -0.4, 2.2]
six() = [0.3, -1.2, 2.1, 0.7, 1.9, -0.6]
square() = [4.0 1 0.5; 0.3 5 1; 0.2 0.7 6]

@testset "columns and rows" begin
    # The result's place leads nowhere when a derivative begins.
    @test differentiable(A -> sum(abs2, sum(copy(c) for c in eachcol(A))), square())
    @test differentiable(A -> sum(sum(c .* c for c in eachrow(A))), square())
    # What a sum begins with is of a type of its own.
    @test differentiable(A -> sum(abs2, sum(eachcol(A))) + sum(abs2, sum(eachrow(A))), square())
    @test differentiable(A -> sum(abs2, foldl(+, [copy(c) for c in eachcol(A)])), square())
    @test differentiable(A -> sum(abs2, mapreduce(i -> A[:, i] .* i, +, 1:3; init = zeros(3))), square())
    @test differentiable(A -> sum(abs2, mapreduce(c -> c ./ norm(c), hcat, eachcol(A)) .* [1 2 3; 4 5 6; 7 8 9]), square())
    @test differentiable(A -> sum(abs2, reduce(vcat, [r' .* r[1] for r in eachrow(A)])), square())
    @test differentiable(A -> (c = sort(collect(eachcol(A)); by = norm); sum(c[1] .* c[2])), square())
end

@testset "iterators" begin
    @test differentiable(v -> sum(abs2, accumulate((a, b) -> 0.9a + b, v; init = 1.0)) + sum(accumulate(max, v)), three())
    @test differentiable(v -> sum(a * b * c for (a, b, c) in zip(v, 1:3, reverse(v))) + sum(p[1] * p[2]^2 for p in collect(enumerate(v))), three())
    @test differentiable(v -> sum(a * b^2 for (a, b) in Iterators.product(v, v)) + sum(x * y for x in v for y in v if x > y), three())
    @test differentiable(v -> sum(maximum(p) * sum(p) for p in Iterators.partition(v, 4)) + sum(abs2, collect(Iterators.flatten([v, v .^ 2]))), six())
    @test differentiable(v -> sum(x^2 for x in Iterators.take(Iterators.cycle(v), 7)) + ((h, t) = Iterators.peel(v); h * sum(abs2, t)), three())
    @test differentiable(A -> sum(abs2, sum(x -> x^3, A; dims = 1)) + sum(abs2, findmax(A; dims = 1)[1]), square())
    @test differentiable(v -> (m = findmax(v); m[1] * m[2] + v[argmin(v)]^2 + sum(abs2, clamp!(copy(v), -0.2, 1.5))), three())
end

abstract type Shape end
struct Circle <: Shape
    r::Float64
end
struct Oblong <: Shape
    w::Float64
    h::Float64
end
area(c::Circle) = pi * c.r^2
area(o::Oblong) = o.w * o.h

mutable struct Stages
    last
    count
end
advance!(s, x) = (s.last = s.last === :none ? x : s.last * x; s.count += 1; s)
@noinline called(functions, x) = functions[1](x)

@testset "lists of anything" begin
    @test differentiable(v -> (l = []; for i in 1:3; push!(l, v .* i); end; sum(abs2, sum(l)) + sum(map(norm, l))), three())
    @test differentiable(v -> (s = Shape[Circle(v[1]), Oblong(v[2], v[3])]; mapreduce(area, *, s) + maximum(area, s) + sum(map(area, s))), three())
    @test differentiable(v -> (fs = Any[x -> (x, x .^ 2), x -> (sum(x), 1)]; (a, b) = fs[1](v); (c, d) = fs[2](v); sum(a .* b) * c * d), three())
    @test differentiable(v -> (fs = Any[a -> (x -> a * x), x -> view(x, 2:3)]; fs[1](v[1])(v[2]) * sum(abs2, fs[2](v))), three())
    @test differentiable(v -> (fs = Any[x -> (x .*= 2; nothing), x -> push!(x, 3.0)]; u = copy(v); fs[1](u); fs[2](u); sum(abs2, u)), three())
    @test differentiable(v -> (u = Vector{Any}(undef, 3); u[1] = v; u[3] = v[1]; s = 0.0; for i in 1:3; isassigned(u, i) && (s += sum(abs2, u[i])); end; s), three())
    @test differentiable(v -> (fs = reduce(∘, [sin, cos, exp]); fs(v[2])), three())
    @test differentiable(v -> foldl((f, g) -> g ∘ f, [x -> x^2, sin, x -> x * v[1]])(v[2]), three())
end

@testset "results that may be constants of the code" begin
    # `abs2` of anything is `missing`, what it is given, or what a method says.
    @test differentiable(v -> (fs = Any[x -> complex(x, 2x)]; z = fs[1](v[1]); abs2(z)), three())
    @test differentiable(v -> (fs = Any[x -> complex(x, 2x)]; abs2(called(fs, v[1])) * abs(called(Any[identity], v[2]))), three())
    @test differentiable(v -> (fs = Any[x -> x^2]; y = :none; for x in v; y = y === :none ? called(fs, x) : y; end; y === :none ? 0.0 : y^2), three())
    @test differentiable(v -> (steps = Any[advance!]; s = Stages(:none, 0); for x in v; steps[1](s, complex(x, 1)); end; abs2(s.last) * s.count), three())
    @test differentiable(v -> (fs = Any[(x, y) -> x * y]; y = true; for x in v; y = abs2(fs[1](y, x)); end; y), three())
end

struct Event
    time::Float64
    id::Int
end

@testset "queues" begin
    @test differentiable(v -> (q = [(1, v[1])]; s = 0.0; while !isempty(q); (n, x) = popfirst!(q); s += x^2; n < 3 && push!(q, (n + 1, x * v[2])); end; s), three())
    @test differentiable(v -> (q = Tuple{Float64,Int}[]; for (i, x) in enumerate(v); insert!(q, searchsortedfirst(q, (x, i)), (x, i)); end; s = 0.0; for k in 1:6; (x, i) = popfirst!(q); s += x * v[i] * k; end; s), six())
    @test differentiable(v -> (q = [(id = i, cost = x) for (i, x) in enumerate(v)]; pushfirst!(q, (id = 9, cost = v[1])); deleteat!(q, 2:3); sum(p.cost * p.id for p in q)), six())
    @test differentiable(v -> (q = [(i, x) for (i, x) in enumerate(v)]; splice!(q, 2); splice!(q, 1:2, [(5, v[2]), (6, v[1])]); sum(a * b for (a, b) in q)), six())
    @test differentiable(v -> (q = [Event(x, i) for (i, x) in enumerate(v)]; e = popfirst!(q); insert!(q, 3, Event(e.time + v[2]^2, e.id)); sum(e.time^2 * e.id * k for (k, e) in enumerate(q))), six())
    # Outside of derivatives these are Base's own.
    q = [Event(1.0, 1)]
    @test popfirst!(q) === Event(1.0, 1) && isempty(q)
    @test_throws ArgumentError popfirst!(q)
    @test_throws BoundsError deleteat!(q, 1)
end

@testset "orders" begin
    @test differentiable(v -> (p = sortperm(v; by = abs, rev = true); sum(v[p] .* (1:3))), three())
    @test differentiable(v -> (c = sum(v); p = sortperm(v; lt = (a, b) -> abs(a - c) < abs(b - c)); c * sum(v[p] .* (1:3))), three())
    # What the program's function writes has its derivative.
    @test differentiable(v -> (u = zeros(3); n = Ref(0); p = sortperm(v; by = x -> (n[] < 3 && (n[] += 1; u[n[]] = x^2); x)); sum(v[p] .* (1:3)) + sum(u)), three())
    # Equal keys keep their order only if the algorithm says so.
    @test differentiable(v -> (w = [v[1], 0.0, v[1], 0.0, v[1], 0.0]; p = sortperm(w; alg = MergeSort); sum(v[p] .* (1:6) .* w)), six())
    @test differentiable(v -> (s = [Event(x^2, i) for (i, x) in enumerate(v)]; p = sortperm(s; by = e -> e.time); sum(s[p[k]].time * k for k in 1:3)), three())
    @test differentiable(v -> sum(sort(Any[v[1], v[2], v[3]]) .* (1:3)), three())
end

mutable struct Lazy
    v::Vector{Float64}
    sums::Vector{Float64}
    Lazy(v) = new(v)
end

@testset "copies of references, fields without a value" begin
    @test differentiable(v -> (l = Any[v[1], v, 2]; m = copy(l); m[1] = 3.0; n = similar(l); copyto!(n, l); l[1] * sum(m[2]) * n[1]), three())
    @test differentiable(v -> (l = [v, 2v]; m = copy(l); m[1] = 3v; n = l[[2, 1]]; GC.gc(); sum(l[1] .* m[1]) + sum(n[1] .^ 2)), three())
    @test differentiable(v -> (l = Any[Lazy]; k = l[1](v); sum(k.v) * (isdefined(k, :sums) ? 2 : 3)), three())
end
