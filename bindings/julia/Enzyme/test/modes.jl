# Batches, options, thunks, redefinition.

square(x) = x * x
weighted(v, w) = sum(v .* w)

@testset "batches" begin
    x, d1, d2 = [1.0, 2.0], zeros(2), zeros(2)
    autodiff(Reverse, v -> v[1] * v[2], Active, BatchDuplicated(x, (d1, d2)))
    @test d1 == [2.0, 1.0] && d2 == [2.0, 1.0]
    y, e1, e2 = zeros(2), [1.0, 0.0], [0.0, 1.0]
    d1 .= 0
    d2 .= 0
    autodiff(Reverse, (y, v) -> (y .= v .^ 2; nothing), Const, BatchDuplicated(y, (e1, e2)), BatchDuplicated(x, (d1, d2)))
    @test d1 == [2.0, 0.0] && d2 == [0.0, 4.0]
    t = autodiff(Forward, v -> v .^ 2, BatchDuplicated(x, ([1.0, 0.0], [0.0, 1.0])))
    @test t[1][1] == [2.0, 0.0] && t[1][2] == [0.0, 4.0]
    @test autodiff(Forward, (v, s) -> s * sum(v), BatchDuplicated, BatchDuplicated(x, ([1.0, 0.0], [0.0, 1.0])), Const(2.0)) == ((var"1" = 2.0, var"2" = 2.0),)
end

@testset "options" begin
    @test autodiff(set_runtime_activity(Reverse), square, Active, Active(3.0)) == ((6.0,),)
    @test autodiff(set_strong_zero(Reverse), x -> 0 * sqrt(x), Active, Active(0.0)) == ((0.0,),)
    @test isnan(autodiff(Reverse, x -> 0 * sqrt(x), Active, Active(0.0))[1][1])
    @test autodiff(set_strong_zero(ForwardWithPrimal), square, Duplicated(3.0, 1.0)) == (6.0, 9.0)
    @test set_runtime_activity(Reverse) !== Reverse
    @test clear_runtime_activity(set_runtime_activity(Reverse)) === Reverse
    @test WithPrimal(Reverse) === ReverseWithPrimal && NoPrimal(ForwardWithPrimal) === Forward
    # Memory that the function is given as a constant, chosen at run time.
    a, c = [1.0, 2.0], [3.0, 4.0]
    da = zeros(2)
    autodiff(set_runtime_activity(Reverse), (a, c, t) -> (v = t ? a : c; sum(v .* a)), Active, Duplicated(a, da), Duplicated(c, zeros(2)), Const(false))
    @test da == c
end

allocates(v) = sum(exp.(v .* 2) .* v)
vector(v) = (w = [v .* k for k in 1:2]; w[1] .* w[2])
nested(v) = [v .* k for k in 1:2]

@testset "split" begin
    forward, reverse = autodiff_thunk(ReverseSplitWithPrimal, Const{typeof(square)}, Active, Active{Float64})
    tape, value, shadow = forward(Const(square), Active(3.0))
    @test value == 9.0 && shadow === nothing
    @test reverse(Const(square), Active(3.0), 2.0, tape) == ((12.0,),)
    @test_throws ArgumentError reverse(Const(square), Active(3.0), 2.0, tape)
    inner_product(v, w) = (s = 0.0; for i in eachindex(v); s += v[i] * w[i]; end; s)
    f2, r2 = autodiff_thunk(ReverseSplitNoPrimal, Const{typeof(inner_product)}, Active, Duplicated{Vector{Float64}}, Const{Vector{Float64}})
    v, dv, w = [1.0, 2.0], zeros(2), [3.0, 4.0]
    tape, value, _ = f2(Const(inner_product), Duplicated(v, dv), Const(w))
    @test value === nothing
    v .= 100.0
    @test r2(Const(inner_product), Duplicated(v, dv), Const(w), 1.0, tape) == ((nothing, nothing),)
    @test dv == w
    # Memory of the first sweep's, and a collection between both.
    x = [0.1, 0.2, 0.3]
    for n in 1:3
        dx = zeros(3)
        f3, r3 = autodiff_thunk(ReverseSplitNoPrimal, Const{typeof(allocates)}, Active, Duplicated{Vector{Float64}})
        tape, = f3(Const(allocates), Duplicated(x, dx))
        GC.gc()
        r3(Const(allocates), Duplicated(x, dx), 1.0, tape)
        @test dx == gradient(Reverse, allocates, x)[1]
        dx .= 0
        f4, r4 = autodiff_thunk(ReverseSplitWithPrimal, Const{typeof(vector)}, Duplicated, Duplicated{Vector{Float64}})
        tape, value, shadow = f4(Const(vector), Duplicated(x, dx))
        GC.gc(false)
        shadow .= [1.0, 2.0, 3.0]
        [rand(10) for _ in 1:1000]
        r4(Const(vector), Duplicated(x, dx), tape)
        @test value == vector(x) && dx ≈ 4 .* x .* [1.0, 2.0, 3.0]
    end
    f5, _ = autodiff_thunk(ReverseSplitNoPrimal, Const{typeof(nested)}, Duplicated, Duplicated{Vector{Float64}})
    @test_throws Enzyme.EnzymeError f5(Const(nested), Duplicated(x, zeros(3)))
    tangent = autodiff_thunk(Forward, Const{typeof(square)}, Duplicated, Duplicated{Float64})
    @test tangent(Const(square), Duplicated(3.0, 1.0)) == (6.0,)
    @test_throws ArgumentError tangent(Const(square), Const(3.0))
end

@testset "redefinition" begin
    @eval redefined(x) = x^2
    call() = autodiff(Reverse, redefined, Active, Active(3.0))
    @test Base.invokelatest(call) == ((6.0,),)
    @eval redefined(x) = x^3
    @test Base.invokelatest(call) == ((27.0,),)
    @eval helper(x) = 2x
    @eval through(x) = helper(x)^2
    outer() = autodiff(Reverse, through, Active, Active(1.0))
    @test Base.invokelatest(outer) == ((8.0,),)
    @eval helper(x) = 3x
    @test Base.invokelatest(outer) == ((18.0,),)
end

@testset "public names" begin
    exported = [:autodiff, :autodiff_deferred, :autodiff_thunk, :autodiff_deferred_thunk, :tape_type, :gradient, :gradient!, :jacobian, :hvp, :hvp!, :hvp_and_gradient!,
        :onehot, :chunkedonehot, :make_zero, :make_zero!, :remake_zero!, :within_autodiff, :ignore_derivatives, :test_forward, :test_reverse,
        :Forward, :ForwardWithPrimal, :Reverse, :ReverseWithPrimal, :ReverseSplitNoPrimal, :ReverseSplitWithPrimal, :ReverseSplitModified, :ReverseSplitWidth,
        :ReverseHolomorphic, :ReverseHolomorphicWithPrimal, :ForwardMode, :ReverseMode, :set_runtime_activity, :clear_runtime_activity,
        :set_strong_zero, :clear_strong_zero, :WithPrimal, :NoPrimal, :Annotation, :Const, :Active, :Duplicated, :DuplicatedNoNeed, :BatchDuplicated,
        :BatchDuplicatedNoNeed, :MixedDuplicated, :BatchMixedDuplicated, :BatchDuplicatedFunc, :set_abi, :set_err_if_func_written, :clear_err_if_func_written, :EnzymeRules]
    @test setdiff(exported, names(Enzyme)) == []
    inner = [:forward, :augmented_primal, :reverse, :inactive, :inactive_noinl, :inactive_arg, :inactive_kwarg, :noalias, Symbol("@easy_rule"), :AugmentedReturn, :FwdConfig, :FwdConfigWidth,
        :RevConfig, :RevConfigWidth, :needs_primal, :needs_shadow, :width, :overwritten, :runtime_activity, :strong_zero, :primal_type, :shadow_type]
    @test all(n -> isdefined(EnzymeRules, n), inner)
    @test all(n -> isdefined(Enzyme, n), [:needs_primal, :runtime_activity, :strong_zero, :batch_size, :register_bitcode, :get_func, :FFIABI, :DefaultABI, :InlineABI, :NonGenABI])
    product(x) = x[1]^2 * x[2]
    units() = ([1.0, 0.0], [0.0, 1.0])
    batch = BatchDuplicatedFunc{Vector{Float64},2,units}([2.0, 3.0])
    @test values(autodiff(set_err_if_func_written(set_abi(Forward, Enzyme.InlineABI)), product, batch)[1]) == (12.0, 4.0)
    @test Enzyme.get_func(batch) === units && Enzyme.batch_size(batch) == 2
    @test_throws ArgumentError autodiff(Reverse, x -> x^2, Active, BatchDuplicatedFunc{Float64,2,() -> (1.0, 2.0)}(1.0))
end

@testset "guesses" begin
    guess(T) = Enzyme.guess_activity(T, Reverse)
    @test guess(Float64) === Active{Float64} && guess(Int) === Const{Int} && guess(Vector{Float64}) === Duplicated{Vector{Float64}}
    @test guess(Tuple{Float64,Vector{Float64}}) === MixedDuplicated{Tuple{Float64,Vector{Float64}}} && guess(String) === Const{String}
    @test Enzyme.guess_activity(Float64, Forward) === Duplicated{Float64}
end

@testset "holomorphic functions" begin
    z = 3.1 + 2.7im
    @test autodiff(ReverseHolomorphic, z -> z^2, Active, Active(z))[1][1] ≈ 2z
    (derivative,), value = autodiff(ReverseHolomorphicWithPrimal, (z, a) -> exp(z) * a, Active, Active(z), Const(2.0))
    @test derivative ≈ 2exp(z) && value == 2exp(z)
    v, dv = [1.0 + 2.0im, 0.5im], [1.0 + 0.0im, 0.0im]
    autodiff(ReverseHolomorphic, v -> v[1] * v[2]^2, Active, Duplicated(v, dv))
    @test dv ≈ [1 + v[2]^2, 2v[1] * v[2]]
    @test_throws ArgumentError autodiff(ReverseHolomorphic, z -> z^2, Const, Active(z))
end

@testset "from within" begin
    @test !within_autodiff()
    tripled(x) = within_autodiff() ? 3x : x
    @test autodiff(Reverse, tripled, Active, Active(1.0)) == ((3.0,),)
    @test autodiff(Forward, tripled, Duplicated(1.0, 1.0)) == (3.0,)
    @test autodiff(Reverse, x -> x * ignore_derivatives(x), Active, Active(2.0)) == ((2.0,),)
    @test autodiff(Forward, x -> x * ignore_derivatives(x), Duplicated(2.0, 1.0)) == (2.0,)
end

@testset "types of tapes" begin
    product(v, a) = a * v[1] * v[2]
    given = (Const{typeof(product)}, Active, Duplicated{Vector{Float64}}, Active{Float64})
    mode = ReverseSplitModified(ReverseSplitWithPrimal, Val((true, true, true)))
    first, second = autodiff_deferred_thunk(mode, given...)
    dx = zeros(2)
    tape, value, _ = first(Const(product), Duplicated([2.0, 3.0], dx), Active(4.0))
    @test tape isa tape_type(mode, given...) && value == 24.0
    @test second(Const(product), Duplicated([2.0, 3.0], dx), Active(4.0), 1.0, tape)[1][2] == 6.0 && dx == [12.0, 8.0]
end

@testset "files for other versions" begin
    # They were never run; here they are read, and define what the package asks for.
    wanted = filter(n -> !startswith(string(n), "#"), names(Enzyme.Emit; all = true))
    for file in ("emit_1_10.jl", "emit_1_12.jl")
        sandbox = Module()
        Core.eval(sandbox, :(const LLVM = $(Enzyme.LLVM)))
        Base.include(sandbox, joinpath(dirname(pathof(Enzyme)), file))
        emit = getfield(sandbox, :Emit)
        @test setdiff(wanted, names(emit; all = true)) == []
        @test !isempty(emit.missing_parts)
    end
end
