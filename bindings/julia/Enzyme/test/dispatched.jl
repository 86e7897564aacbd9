# Iterators, reductions and containers as people use them, where what is called, or of which type its result is, comes out when the program runs.

differentiable(f, x) = test_reverse(f, Active, (x, Duplicated)) && test_forward(f, Duplicated, (x, Duplicated))
three() = [1.3, -0.4, 2.2]
six() = [0.3, -1.2, 2.1, 0.7, 1.9, -0.6]
square() = [4.0 1 0.5; 0.3 5 1; 0.2 0.7 6]

@testset "columns and rows" begin
    # The result's place leads nowhere when a derivative begins.
    @test differentiable(A -> sum(abs2, sum(copy(c) for c in eachcol(A))), square())
    @test differentiable(A -> sum(sum(c .* c for c in eachrow(A))), square())
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
end

@testset "results that may be constants of the code" begin
    # `abs2` of anything is `missing`, what it is given, or what a method says.
    @test differentiable(v -> (fs = Any[x -> complex(x, 2x)]; z = fs[1](v[1]); abs2(z)), three())
    @test differentiable(v -> (fs = Any[x -> complex(x, 2x)]; abs2(called(fs, v[1])) * abs(called(Any[identity], v[2]))), three())
    @test differentiable(v -> (fs = Any[x -> x^2]; y = :none; for x in v; y = y === :none ? called(fs, x) : y; end; y === :none ? 0.0 : y^2), three())
    @test differentiable(v -> (steps = Any[advance!]; s = Stages(:none, 0); for x in v; steps[1](s, complex(x, 1)); end; abs2(s.last) * s.count), three())
    @test differentiable(v -> (fs = Any[(x, y) -> x * y]; y = true; for x in v; y = abs2(fs[1](y, x)); end; y), three())
end
