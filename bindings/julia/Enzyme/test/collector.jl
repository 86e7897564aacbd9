# The garbage collector: what derivatives leave is whole, and what they use goes.

grows(v) = (w = Float64[]; for a in v; push!(w, a^2); end; sum(exp.(w)))
chains(v) = (x = v; for _ in 1:5; x = x .* v; end; sum(x))

@testset "under collections" begin
    x = [0.1, 0.2, 0.3]
    expected = gradient(Reverse, grows, x)[1]
    good = true
    for n in 1:2000
        dx = zeros(3)
        autodiff(Reverse, grows, Active, Duplicated(x, dx))
        n % 100 == 0 && GC.gc()
        n % 10 == 0 && GC.gc(false)
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
