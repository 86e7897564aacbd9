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
    allocates(v) = sum(v .* v)
    f3, _ = autodiff_thunk(ReverseSplitNoPrimal, Const{typeof(allocates)}, Active, Duplicated{Vector{Float64}})
    @test_throws Enzyme.EnzymeError f3(Const(allocates), Duplicated(v, dv))
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
