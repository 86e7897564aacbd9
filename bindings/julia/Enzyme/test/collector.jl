# The garbage collector: what derivatives leave is whole, and what they use goes.

grows(v) = (w = Float64[]; for a in v; push!(w, a^2); end; sum(exp.(w)))
chains(v) = (x = v; for _ in 1:5; x = x .* v; end; sum(x))

@testset "under collections" begin
    x = [0.1, 0.2, 0.3]
    expected = gradient(Reverse, grows, x)[1]
    good = true
    for n in 1:10_000
        dx = zeros(3)
        autodiff(Reverse, grows, Active, Duplicated(x, dx))
        n % 500 == 0 && GC.gc()
        n % 50 == 0 && GC.gc(false)
        good &= dx == expected
    end
    @test good
    @test chains(x) > 0 && gradient(Reverse, chains, x)[1] ≈ 6 .* x .^ 5
    kept = [autodiff(Forward, v -> v .* v, Duplicated(x, [1.0, 0.0, 0.0]))[1] for _ in 1:1000]
    GC.gc()
    @test all(k -> k == [0.2, 0.0, 0.0], kept)
    push!(kept[1], 7.0) # a vector like others
    @test kept[1] == [0.2, 0.0, 0.0, 7.0]
    old, dold = [[1.0, 2.0]], [[0.0, 0.0]]
    GC.gc()
    GC.gc() # old by now
    autodiff(Forward, (o, v) -> (o[1] = v .* v; nothing), Const, Duplicated(old, dold), Duplicated(x, [1.0, 0.0, 0.0]))
    for _ in 1:10
        GC.gc(false)
        [rand(10) for _ in 1:1000]
    end
    @test old[1] == x .^ 2 && dold[1] == [0.2, 0.0, 0.0]
end

# The collector runs while a derivative does.
collect_now(full = false) = ccall(:jl_gc_collect, Cvoid, (Cint,), full ? 1 : 0)
mutable struct Held
    v::Vector{Float64}
end
during = [
    v -> (x = v; for k in 1:4; x = x .* v; collect_now(); end; sum(x)),
    v -> (w = Float64[]; for a in v; push!(w, a^2); collect_now(); end; collect_now(true); sum(exp.(w))),
    v -> (w = [v .* k for k in 1:3]; collect_now(true); s = 0.0; for u in w; collect_now(); s += sum(u .^ 2); end; s),
    v -> (w = Vector{Float64}[]; for k in 1:3; push!(w, v .* k); collect_now(); end; s = 0.0; for u in w; s += sum(u .* u); end; s),
    v -> (h = Held(v .* 2); collect_now(true); h.v = h.v .* v; collect_now(); collect_now(); sum(h.v)),
    v -> (r = Ref(v .* 1.0); for k in 1:3; r[] = r[] .* v; collect_now(); end; sum(r[])),
    v -> (d = Dict("a" => 1, "b" => 2); collect_now(); sum(v .* v) * d["b"]),
    v -> (a = copy(v); collect_now(); b = reshape(a .* 2, 3, 1); collect_now(); sum(b .* b)),
    v -> (t = (v .* 2, v .* 3); collect_now(true); sum(t[1] .* t[2])),
    v -> (w = v .* 2; g = x -> x .* w; collect_now(true); sum(g(v))),
    # Arrays that functions of the run-time system resize.
    v -> (list = [1, 2, 3]; for k in 1:40; pushfirst!(list, k); end; collect_now(); sum(v[mod1(i, 3)]^2 for i in list)),
    v -> (names = ["a", "b"]; insert!(names, 2, "c"); deleteat!(names, 1); collect_now(); sum(v .* v) * length(join(names))),
    v -> (n = length(string(length(v), "abc")); collect_now(true); n * sum(v .^ 2)),
]
replaces(h, v) = (old = h.v; h.v = v .* 2; collect_now(true); a = zeros(100); collect_now(); s = sum(old .* v) + sum(h.v); h.v = old; s)
const kept_in_global = Ref([1.0, 2.0])
replaces_global(v) = (old = kept_in_global[]; kept_in_global[] = fill(2.0, 3); collect_now(true); a = zeros(100); collect_now(); s = sum(old) * sum(v); kept_in_global[] = old; s)
too_far(v) = (w = v .* 2; collect_now(); w[10])
noted(x) = x * x
EnzymeRules.augmented_primal(config, f::Const{typeof(noted)}, ::Type{<:Active}, x::Active) =
    (r = EnzymeRules.AugmentedReturn(noted(x.val), nothing, [2 * x.val]); collect_now(true); r)
EnzymeRules.reverse(config, f::Const{typeof(noted)}, dret::Active, tape, x::Active) = (collect_now(true); (tape[1] * dret.val,))

@testset "collections inside" begin
    x = [0.1, 0.2, 0.3]
    for f in during
        step(k) = 1e-6 .* (1:3 .== k)
        expected = [(f(x .+ step(k)) - f(x .- step(k))) / 2e-6 for k in 1:3]
        good = gradient(Reverse, f, x)[1]
        @test isapprox(good, expected; rtol = 1e-6)
        @test all(_ -> gradient(Reverse, f, x)[1] == good, 1:2)
        @test all(_ -> isapprox(collect(gradient(Forward, f, x)[1]), good), 1:2)
    end
    # What is taken out of an argument lives on.
    for _ in 1:3
        h, dh, dx = Held([1.0, 2.0, 3.0]), Held(zeros(3)), zeros(3)
        autodiff(Reverse, replaces, Active, Duplicated(h, dh), Duplicated(x, dx))
        @test dx == [3.0, 4.0, 5.0] && dh.v == x
    end
    @test gradient(Reverse, replaces_global, x)[1] == [3.0, 3.0, 3.0] && kept_in_global[] == [1.0, 2.0]
    # An exception leads to an array that was made inside.
    for _ in 1:3
        e = try
            autodiff(Reverse, too_far, Active, Duplicated(x, zeros(3)))
        catch e
            e
        end
        GC.gc()
        [rand(3) for _ in 1:1000]
        @test e isa BoundsError && e.a == 2x
    end
    # Tapes of rules.
    @test autodiff(Reverse, (a, n) -> (s = 0.0; for k in 1:n; s += noted(k * a); end; s), Active, Active(3.0), Const(4)) == ((180.0, nothing),)
    made = autodiff(Forward, v -> [v .* k for k in 1:3], Duplicated(x, [1.0, 0.0, 0.0]))[1]
    GC.gc()
    [rand(100) for _ in 1:1000]
    GC.gc(false)
    @test made == [[1.0, 0.0, 0.0], [2.0, 0.0, 0.0], [3.0, 0.0, 0.0]]
    @test push!(made, [1.0])[4] == [1.0]
    @test isequal(autodiff(Forward, v -> copy(v), Duplicated(Union{Float64,Missing}[1.0, missing], Union{Float64,Missing}[1.0, missing]))[1], Union{Float64,Missing}[1.0, missing])
    @test_throws ErrorException autodiff(Forward, v -> (w = v .* 2; collect_now(); push!(v, w[1]); w), Duplicated([1.0], [1.0]))
    @test GC.enable(true)
end

@testset "memory" begin
    x, dx = rand(1000), zeros(1000)
    run(n) = for _ in 1:n; autodiff(Reverse, chains, Active, Duplicated(x, dx)); end
    run(200)
    GC.gc()
    resident() = parse(Int, split(read("/proc/self/statm", String))[2]) * 4096
    before = resident()
    run(2000)
    GC.gc()
    @test resident() - before < 64_000_000
    @test GC.enable(true)
end
