# `try`, `catch` and `finally` in what is differentiated: bodies that run through, exceptions that are caught, exceptions that leave.

"Both modes against central differences, at each point."
tried(f, xs...) = all(x -> test_reverse(f, Active, (x, Active)) && test_forward(f, Duplicated, (x, Duplicated)), xs)
"As `tried`, where only forward mode has a derivative: what reverse mode says instead."
function tried_forward(f, x)
    test_forward(f, Duplicated, (x, Duplicated)) || return ""
    try
        autodiff(Reverse, f, Active, Active(x))
        ""
    catch e
        sprint(showerror, e)
    end
end

@testset "bodies that run through" begin
    @test tried(x -> try sqrt(x) * 2 catch; 0.0 end, 2.0)
    @test tried(x -> (y = 1.0; try y = x^2; y *= x; catch; y = 7.0; end; y * x), 1.3)
    @test tried(x -> (y = x; try y = sin(y) finally y *= 2 end; y), 1.3)
    @test tried(x -> (s = 0.0; for i in 1:4; try s += x^i finally s *= 2 end; end; s), 1.3)
    @test tried(x -> (s = 0.0; for i in 1:5; try i == 2 && continue; i == 4 && break; s += x^i finally s *= 2 end; end; s), 1.3)
    returning(x, y) = try; y > 2 && return y * x; y^2 * x; finally; x > 100 && error("large"); end
    @test tried(x -> returning(x, x) + returning(x, 2x), 1.3)
    nested(x) = try; try; x^2 finally; x > 9 && error("x"); end * 3 catch e; rethrow() end
    @test tried(nested, 1.3)
    @noinline inner(v) = (try v[1] = sqrt(v[2]) * v[1] catch e; e isa DomainError || rethrow() end; sum(v))
    @test tried(x -> inner([x, 2x]) + inner([3x, x]), 1.3)
    @test test_reverse(v -> (try v[1] = v[2]^2 catch; end; sum(abs2, v)), Active, ([1.3, -0.4], Duplicated))
    @test test_forward(v -> (try v[1] = v[2]^2 catch; end; sum(abs2, v)), Duplicated, ([1.3, -0.4], Duplicated))
end

@testset "what users close and give back" begin
    @test tried(x -> (io = IOBuffer(); s = 0.0; try print(io, "hello"); s = x^3 finally close(io) end; s), 1.3)
    @test tried(x -> open("/dev/null") do io; x^2 + (eof(io) ? x : 0.0) end, 1.3)
    guard = ReentrantLock()
    @test tried(x -> (s = Ref(0.0); lock(guard) do; s[] += x^2 end; s[]), 1.3)
    @test tried(x -> (s = 0.0; lock(guard); try s += x^2 finally unlock(guard) end; s), 1.3)
    held(x) = (s = 0.0; try lock(guard) do; s += x^2; x > 1 && error("in lock"); end; catch; s += x end; s)
    @test tried(held, 0.7, 1.3)
    @test !islocked(guard)
end

@testset "caught where it was thrown" begin
    @test tried(x -> (y = 0.0; try y = sqrt(x) * 2 catch; y = x^2 end; y), 2.0, -2.0)
    @test tried(x -> try log(x) * x catch e; e isa DomainError || rethrow(); 3x end, 2.0, -2.0)
    @test tried(x -> try @assert x < 3; x^2 catch e; e isa AssertionError || rethrow(); 7x end, 2.0, 4.0)
    @test tried(x -> try parse(Float64, "abc") * x catch; 5x end, 2.0) && tried(x -> try parse(Float64, "2.5") * x catch; 5x end, 2.0)
    @test tried(x -> try Int(x) * x catch e; e isa InexactError || rethrow(); x^2 end, 2.5)
    @test tried(x -> (d = Dict(1 => x); try d[1] * d[2] catch e; e isa KeyError ? d[1]^2 : rethrow() end), 2.5)
    @test tried(x -> (v = [x, 2x]; s = 0.0; try for i in 1:3; s += v[i]^2 end catch e; e isa BoundsError || rethrow(); s += x end; s * v[1]), 1.3)
    @test tried(x -> try throw("text") catch e; e == "text" ? x^2 : x end, 1.3)
    @test tried(x -> try error("value: $x") catch e; println(devnull, "failed ", e); x^2 end, 1.3)
    @test tried(x -> try error("value: $x") catch e; occursin("value", e.msg) ? x^2 : x end, 1.3)
    @test tried(x -> try x > 1 ? error() : x catch; try log(-x) catch; sin(x) end end, 1.3)
    @test tried(x -> sum(map(v -> try sqrt(v) catch; v^2 end, [x, -x, 2x])), 1.3)
    function everything(x)
        s = 0.0
        for i in 1:5
            try
                i == 3 && error("no")
                s += i * x^2
            catch
                s *= x
            finally
                s += x
            end
        end
        s
    end
    @test tried(everything, 1.3)
    function out_of_both(x)
        s = 0.0
        for i in 1:3
            try
                try
                    i == 2 && error("a")
                    s += x
                catch
                    s > 0 && throw(ArgumentError("b"))
                    s += 1
                finally
                    s *= x
                end
            catch e
                e isa ArgumentError || rethrow()
                s += x^2
            end
        end
        s
    end
    @test tried(out_of_both, 1.3)
end

@noinline function change!(v, k)
    v[1] *= v[2]
    v[k] = cos(v[1])
    v[2] += 1
    nothing
end
@noinline always!(v) = (v[1] *= v[2]; error("always"))
@noinline pushes!(v, x) = for i in 1:5
    push!(v, i * x)
    i == 4 && error("enough")
end
mutable struct Parts
    a::Float64
    b::Vector{Float64}
end
@noinline function exchange!(m, x)
    m.b = [x, x^2]
    m.a *= x
    m.a > 3 && throw(ArgumentError("big"))
    nothing
end
@noinline goes_down!(v, n) = n == 0 ? error("bottom") : (v[n] *= v[1]; goes_down!(v, n - 1))

@testset "values that were changed before" begin
    @test tried(x -> (v = [x, 2x, 3x]; try v[1] *= x; v[2] = sin(v[1]); error("out") catch; v[3] += v[2] end; sum(v)), 1.3)
    @test tried(x -> (v = [x, 2x, 3x]; try change!(v, 5) catch; v[3] += v[2] end; sum(v)), 1.3)
    @test tried(x -> (v = [x, 2x, 3x]; try always!(v) catch; v[3] += v[2] end; sum(v)), 1.3)
    @test tried(x -> (v = Float64[]; try pushes!(v, x) catch; end; sum(v .^ 2)), 1.3)
    @test tried(x -> (m = Parts(x, [1.0, 2.0]); try exchange!(m, 2x) catch e; e isa ArgumentError || rethrow(); m.a += 1 end; m.a * sum(m.b)), 1.0, 2.0)
    @test tried(x -> (u = nothing; y = try u = x * x; error("x") catch; u === nothing ? 1.0 : u end; y * x), 1.3)
    # Of a function that calls itself nothing is left of what it wrote before it threw.
    went(x) = (v = [x, 2x, 3x]; try goes_down!(v, 3) catch; end; sum(v))
    @test occursin("[E0204]", tried_forward(went, 1.3))
end

limited(a) = a > 2 ? throw(DomainError(a)) : a^2
@noinline function limited!(v, a)
    for i in eachindex(v)
        v[i] = limited(v[i] * a)
    end
    v
end

@testset "parts of what was to be done" begin
    @test tried(x -> (v = [x, 2x, 3x]; try v .= limited.(v) catch; v[3] *= x end; sum(v)), 0.5, 0.9, 3.0)
    @test tried(x -> (v = [x, 2x, 3x]; try map!(limited, v, v) catch; end; sum(v)), 0.9)
    @test tried(x -> (v = [x, 2x, 3x]; w = try limited!(copy(v), 1.0) catch; v end; sum(w) * v[1]), 0.5, 0.9)
    @test tried(x -> (v = [x, 2x, 3x]; try; try limited!(v, x) finally v[1] += x^2; v[2] *= 2 end; catch; v[3] += 1 end; sum(abs2, v)), 0.5, 0.9)
    @test tried(x -> (v = [x, 2x]; w = view(v, 1:2); try w[1] = w[2]^2; w[3] = 1.0 catch; w[2] *= w[1] end; sum(v)), 0.9)
    @test tried(x -> (d = Dict("a" => x^2); try d["b"] = x * d["a"]; d["c"] = d["z"] catch e; e isa KeyError || rethrow() end; d["a"] + d["b"]), 0.9)
    # LLVM makes one call of `throw` of those of several handlers.
    @test tried(x -> (s = 0.0; for i in 1:3; s += try limited(i * x) catch; x end; end; s), 0.9)
    again(x, n = 5) = try; n == 0 ? error("bottom") : x * again(x / 2, n - 1) catch; x^2 + n end
    @test tried(again, 1.3)
    @test tried(x -> (r = try limited(x) catch; nothing end; r === nothing ? x^3 : r), 1.3, 2.3)
    @test tried(x -> (p = try (limited(x), x) catch; (x, x^3) end; p[1] * p[2]), 1.3, 2.3)
    # What a call changes of the task stays changed.
    @test tried(x -> (s = x; try; wait(Timer(0.001)); s *= 2; limited(x); catch; s *= x; end; s), 0.9, 2.9)
end

@testset "until an attempt succeeds" begin
    function halved(x)
        h = x
        for k in 1:6
            try
                h < 1 || throw(DomainError(h, "too large: $h"))
                return h^2
            catch e
                e isa DomainError || rethrow()
                h /= 2
            end
        end
        h
    end
    @test tried(halved, 0.5, 5.0)
    function newton(x)
        h, y = 1.0, x
        for k in 1:20
            try
                y -= h * (log(y) - 0.5) * y
                y <= 0 && throw(DomainError(y))
            catch e
                e isa DomainError || rethrow()
                y = x
                h /= 2
            end
        end
        y
    end
    @test tried(newton, 2.0, 20.0)
    definite(x) = try; 2 * log(det(cholesky([x -1.0; -1.0 2x]).L)) catch e; e isa PosDefException || rethrow(); x^3 end
    @test tried(definite, 2.0, -2.0)
    @test tried(x -> try ([1.0 2.0] * [x, x, x])[1] catch e; e isa DimensionMismatch || rethrow(); x^2 end, 1.3)
end

struct Carrying <: Exception
    value::Float64
end

@testset "what an exception carries" begin
    for f in (x -> try throw(Carrying(x^2)) catch e; e isa Carrying ? e.value : 0.0 end, x -> try sqrt(-x) catch e; e.val * 3 end)
        for call in (() -> autodiff(Reverse, f, Active, Active(2.0)), () -> autodiff(Forward, f, Duplicated(2.0, 1.0)))
            e = try call() catch e; e end
            @test e isa Enzyme.EnzymeError && any(i -> i.code == "E0203" && occursin("exception", i.message), e.items)
        end
    end
end

reason(f) = try f(); "" catch e; sprint(showerror, e) end
@noinline doubles_and_throws(v) = (v[1] *= 2; error("no"))

triples!(v) = (v[1] *= 3; v[1] < 100 && error("small"); nothing)
function EnzymeRules.augmented_primal(config, func::Const{typeof(triples!)}, ::Type{<:Const}, v::Annotation)
    triples!(v.val)
    EnzymeRules.AugmentedReturn(nothing, nothing, nothing)
end
EnzymeRules.reverse(config, func::Const{typeof(triples!)}, dret, tape, v::Annotation) = (v isa Duplicated && (v.dval[1] *= 3); (nothing,))
EnzymeRules.forward(config, func::Const{typeof(triples!)}, ::Type{<:Const}, v::Annotation) = (v isa Duplicated && (v.dval[1] *= 3); triples!(v.val))

@testset "rules that write and throw" begin
    f(v) = (w = copy(v); try triples!(w) catch; w[2] *= 2 end; sum(abs2, w))
    v = [1.3, 2.0]
    @test gradient(Forward, f, v)[1] ≈ [18 * 1.3, 16.0]
    e = reason(() -> gradient(Reverse, f, v))
    @test occursin("[E0204]", e) && occursin("rule of triples! at", e) && occursin("catching.jl:", e)
    @test gradient(Reverse, f, [40.0, 2.0])[1] ≈ [18 * 40.0, 4.0]
end

@testset "at run time only" begin
    @test tried(x -> (d = Any[x, 2.0]; try d[1] * d[2] * d[3] catch; d[1]^3 end), 1.3)
    function late(x)
        writes = Any[v -> (v[1] = x * v[1]; v[1] > 2 && error("large"); nothing)]
        v = [x, 1.0]
        try writes[1](v) catch; v[2] = 3x end
        v[1] + v[2]
    end
    @test tried(late, 1.2)
    @test occursin("[E0204]", tried_forward(late, 1.9)) && occursin("catching.jl:", tried_forward(late, 1.9))
    # What never returns, too, has a tangent.
    always(x) = (v = [x, 1.0]; f = Any[doubles_and_throws][1]; try f(v) catch end; v[1]^2)
    @test autodiff(Forward, always, Duplicated(3.0, 1.0)) == (24.0,)
    @test occursin("doubles_and_throws (", reason(() -> autodiff(Reverse, always, Active, Active(3.0))))
end

mutable struct Holder
    v::Vector{Float64}
end
fills(s, t, x) = try
    a = x > 100 ? s.v : t.v
    a[1] = x
    a[1]^2
catch
    1.0
end
resizes(v, x) = try; push!(v, x); sum(v) catch; 1.0 end

@testset "what stops a derivative is not caught" begin
    # Memory that is its own shadow is constant.
    message(f) = try f(); "" catch e; sprint(showerror, e) end
    s = Holder(zeros(1))
    for call in (() -> autodiff(set_runtime_activity(Reverse), fills, Duplicated(s, Holder(zeros(1))), Const(Holder(zeros(1))), Active(2.0)),
        () -> autodiff(set_runtime_activity(Forward), fills, Duplicated(s, Holder(zeros(1))), Const(Holder(zeros(1))), Duplicated(2.0, 1.0)))
        @test occursin("[E0302]", message(call))
    end
    @test occursin("can not be resized", message(() -> autodiff(Reverse, resizes, Active, Duplicated([1.0], [0.0]), Active(2.0))))
    without(x) = try; Any[y -> ccall(:significand, Float64, (Float64,), y)][1](x) catch; 1.0 end
    @test occursin("[E0201]", message(() -> autodiff(Reverse, without, Active, Active(2.0))))
end

@testset "exceptions that leave" begin
    leaves(x) = try; x > 1 && throw(Carrying(x)); x^2 finally; x < 0 && error("negative") end
    for mode in (Reverse, Forward)
        call(x) = mode === Reverse ? autodiff(Reverse, leaves, Active, Active(x)) : autodiff(Forward, leaves, Duplicated(x, 1.0))
        @test_throws Carrying(2.0) call(2.0)
        @test_throws ErrorException("negative") call(-2.0)
        @test (call(0.5); true)
    end
    @test_throws DomainError autodiff(Reverse, x -> try sqrt(x) catch e; e isa BoundsError || rethrow(); x end, Active, Active(-1.0))
    @test isempty(Base.catch_stack())
end

"Loops of unknown length keep tapes."
@noinline function keeps(v, limit)
    s = 0.0
    for a in v
        while a < limit
            a = a * a + 1
        end
        s += a * s + a
        s > limit && error("large")
    end
    s
end
attempts(v) = (s = 0.0; for limit in (3.0, 10.0, 1e3); try s += keeps(v .* v, limit) catch; s += v[1] end; end; s)

@testset "memory and the collector" begin
    x = collect(range(0.1, 2.0; length = 300))
    @test test_reverse(attempts, Active, (x, Duplicated); rtol = 1e-4) && test_forward(attempts, Duplicated, (x, Duplicated); rtol = 1e-4)
    expected, good = gradient(Reverse, attempts, x)[1], true
    leaving(v) = try; attempts(v) + keeps(v, 1e4) finally; v[1] > 1e9 && error("x") end
    left = 0
    function often(n)
        for k in 1:n
            dx = zeros(300)
            autodiff(Reverse, attempts, Active, Duplicated(x, dx))
            k % 100 == 0 && GC.gc(k % 500 == 0)
            good &= dx == expected
            try autodiff(Reverse, leaving, Active, Duplicated(x, dx)) catch e; left += e isa ErrorException end
        end
    end
    often(200)
    GC.gc()
    resident() = parse(Int, split(read("/proc/self/statm", String))[2]) * 4096
    before = resident()
    often(3000)
    GC.gc()
    @test good && left == 3200
    @test resident() - before < 64_000_000
    @test GC.enable(true)
end

@testset "other ways to ask" begin
    f(v) = (s = 0.0; for a in v; try s += sqrt(a) * v[1] catch; s += a^3 end; end; s)
    v = [4.0, -2.0, 1.0]
    expected = [3 + 4 / 4, 12.0, 2.0]
    @test gradient(Reverse, f, v)[1] ≈ expected && gradient(Forward, f, v)[1] ≈ expected
    forward, reverse = autodiff_thunk(ReverseSplitWithPrimal, Const{typeof(f)}, Active, Duplicated{Vector{Float64}})
    dv = zeros(3)
    tape, result, _ = forward(Const(f), Duplicated(v, dv))
    reverse(Const(f), Duplicated(v, dv), 1.0, tape)
    @test result == f(v) && dv ≈ expected
    @test hvp(f, v, [1.0, 0.0, 0.0]) ≈ [3 / 8, 0.0, 1 / 2]
    inner(x) = try; autodiff(Reverse, y -> y^3, Active, Active(x))[1][1] + sqrt(1 - x) catch e; e isa DomainError || rethrow(); x^2 end
    @test tried(inner, 0.5, 2.0)
    within(x) = autodiff(Reverse, y -> try sqrt(y) * x catch; y^2 * x end, Active, Active(x))[1][1]
    @test tried(within, 0.5, 2.0)
end
