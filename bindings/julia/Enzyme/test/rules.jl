# Rules that a program gives itself: EnzymeRules as users of Enzyme.jl write it. The derivatives of these rules are wrong on purpose, so that
# it shows which of them were used.

using Enzyme.EnzymeRules

cube(x) = x^3
EnzymeRules.forward(config, func::Const{typeof(cube)}, ::Type{<:Duplicated}, x::Duplicated) = Duplicated(func.val(x.val), 100 * x.dval)
function EnzymeRules.augmented_primal(config, func::Const{typeof(cube)}, ::Type{<:Active}, x::Active)
    AugmentedReturn(func.val(x.val), nothing, nothing)
end
EnzymeRules.reverse(config, func::Const{typeof(cube)}, dret::Active, tape, x::Active) = (200 * dret.val,)

"In place: the rule says ten times what is true, and keeps a copy of the argument."
function square_all!(y::Vector{Float64}, x::Vector{Float64})
    y .= x .^ 2
    nothing
end
function EnzymeRules.forward(config, func::Const{typeof(square_all!)}, ::Type{<:Const}, y::Duplicated, x::Duplicated)
    func.val(y.val, x.val)
    y.dval .= 20 .* x.val .* x.dval
    nothing
end
function EnzymeRules.augmented_primal(config, func::Const{typeof(square_all!)}, ::Type{<:Const}, y::Duplicated, x::Annotation)
    func.val(y.val, x.val)
    AugmentedReturn(nothing, nothing, overwritten(config)[3] ? copy(x.val) : x.val)
end
function EnzymeRules.reverse(config, func::Const{typeof(square_all!)}, ::Type{<:Const}, tape, y::Duplicated, x::Annotation)
    x isa Duplicated && (x.dval .+= 20 .* tape .* y.dval)
    y.dval .= 0
    (nothing, nothing)
end

weigh(x::Float64, n::Int, v::Vector{Float64}, y::Float32) = x * n * sum(v) * y
function EnzymeRules.augmented_primal(config, func::Const{typeof(weigh)}, ::Type{<:Active}, x::Active, n::Const, v::Annotation, y::Active)
    AugmentedReturn(func.val(x.val, n.val, v.val, y.val), nothing, (n.val, sum(v.val)))
end
function EnzymeRules.reverse(config, func::Const{typeof(weigh)}, dret::Active, tape, x::Active, n::Const, v::Annotation, y::Active)
    v isa Duplicated && (v.dval .+= dret.val)
    (tape[1] * dret.val, nothing, nothing, tape[2] * dret.val)
end

detached(x) = 3x
EnzymeRules.inactive(::typeof(detached), args...) = nothing

easy(x, y) = x * y
EnzymeRules.@easy_rule(easy(x::Float64, y::Float64), @setup(z = 2y), (z + Ω, Enzyme.Const))

texts(x) = (string(x), x)[2]
EnzymeRules.augmented_primal(config, func::Const{typeof(texts)}, ::Type{<:Active}, x::Active) = AugmentedReturn(nothing, nothing, nothing)
EnzymeRules.reverse(config, func::Const{typeof(texts)}, dret::Active, tape, x::Active) = (1.0,)
pair(x) = (x, x)
EnzymeRules.forward(config, func::Const{typeof(pair)}, ::Type{<:Duplicated}, x::Duplicated) = Duplicated((x.val, x.val), (x.dval, x.dval))
EnzymeRules.augmented_primal(config, func::Const{typeof(pair)}, ::Type, x::Active) = AugmentedReturn((x.val, x.val), nothing, nothing)
failing(x) = x
EnzymeRules.forward(config, func::Const{typeof(failing)}, ::Type{<:Duplicated}, x::Duplicated) = throw(DomainError(x.val, "by the rule"))

one_of(x) = x
other_of(x) = 2x
EnzymeRules.forward(config, func::Const{<:Union{typeof(one_of),typeof(other_of)}}, ::Type{<:Duplicated}, x::Duplicated) = Duplicated(func.val(x.val), 100 * x.dval)
@inline tiny(x, y...) = x + length(y)
EnzymeRules.forward(config, func::Const{typeof(tiny)}, ::Type{<:Duplicated}, x::Duplicated, y...) = Duplicated(func.val(x.val, map(a -> a.val, y)...), 100 * x.dval)
EnzymeRules.@easy_rule(Base.sinpi(x::Float64), (1000.0,))
inside(x) = (y = zeros(2); square_all!(y, x); x .= 0; sum(y))
const table = [1.0, 2.0]
factor() = 10
by_helper(x) = x
EnzymeRules.forward(config, func::Const{typeof(by_helper)}, ::Type{<:Duplicated}, x::Duplicated) = Duplicated(x.val, factor() * x.dval)

@testset "of numbers" begin
    @test autodiff(Forward, cube, Duplicated(2.0, 1.0)) == (100.0,)
    @test autodiff(ForwardWithPrimal, x -> sin(cube(x)), Duplicated(2.0, 1.0)) == (100cos(8.0), sin(8.0))
    @test autodiff(Reverse, cube, Active, Active(2.0)) == ((200.0,),)
    @test autodiff(ReverseWithPrimal, x -> cube(x) * cube(2x), Active, Active(1.0)) == ((200 * 8.0 + 400 * 1.0,), 8.0)
    @test autodiff(Reverse, x -> (s = 0.0; for i in 1:3; s += cube(x) * i; end; s), Active, Active(1.0)) == ((1200.0,),)
    @test autodiff(Reverse, cube, Active, Active(2.0f0)) == ((200.0f0,),)
    @test autodiff(Reverse, v -> sum(cube, v), Active, Duplicated([1.0, 2.0], zeros(2))) == ((nothing,),)
    @test gradient(Reverse, v -> cube(v[1]) + v[2], [1.0, 2.0]) == ([200.0, 1.0],)
    @test autodiff(Forward, cube, BatchDuplicated(2.0, (1.0, 2.0))) == ((var"1" = 100.0, var"2" = 200.0),)
    @test cube(2.0) == 8.0
    call() = autodiff(Forward, by_helper, Duplicated(2.0, 1.0))
    @test Base.invokelatest(call) == (10.0,)
    @eval factor() = 20
    @test Base.invokelatest(call) == (20.0,)
end

@testset "of arrays" begin
    x, y = [1.0, 2.0], zeros(2)
    dx, dy = [1.0, 0.0], zeros(2)
    autodiff(Forward, square_all!, Const, Duplicated(y, dy), Duplicated(x, dx))
    @test y == [1.0, 4.0] && dy == [20.0, 0.0]
    dx, dy = zeros(2), [1.0, 1.0]
    autodiff(Reverse, square_all!, Const, Duplicated(y, dy), Duplicated(x, dx))
    @test dx == [20.0, 40.0] && dy == [0.0, 0.0]
    x, dx = [1.0, 2.0], zeros(2)
    autodiff(Reverse, inside, Active, Duplicated(x, dx))
    @test dx == [20.0, 40.0]
    x, y, dy = [1.0, 2.0], zeros(2), [1.0, 1.0]
    autodiff(Reverse, square_all!, Const, Duplicated(y, dy), Const(x))
    @test y == [1.0, 4.0] && dy == [0.0, 0.0]
end

@testset "of all kinds of arguments" begin
    v, dv = [1.0, 2.0], zeros(2)
    d, value = autodiff(ReverseWithPrimal, weigh, Active, Active(2.0), Const(3), Duplicated(v, dv), Active(0.5f0))
    @test d == (3.0, nothing, nothing, 3.0f0) && value == 9.0 && dv == [1.0, 1.0]
    d, = autodiff(Reverse, (x, y) -> weigh(x, 4, [x, 1.0], y), Active, Active(2.0), Active(0.5f0))
    @test d == (5.0, 3.0f0)
    @test autodiff(Reverse, x -> weigh(x, 4, [1.0, 2.0], 0.5f0), Active, Active(2.0)) == ((4.0,),)
    @test autodiff(Reverse, x -> weigh(x, 4, table, 0.5f0), Active, Active(2.0)) == ((4.0,),)
    @test table == [1.0, 2.0]
end

@testset "that stay calls" begin
    @test autodiff(Forward, x -> one_of(x) + other_of(x), Duplicated(2.0, 1.0)) == (200.0,)
    d1, d2 = zeros(2), zeros(2)
    autodiff(Reverse, v -> cube(v[1]) * v[2], Active, BatchDuplicated([2.0, 3.0], (d1, d2)))
    @test d1 == d2 == [600.0, 8.0]
    x, y, dx, dy = [1.0, 2.0], zeros(2), (zeros(2), zeros(2)), ([1.0, 0.0], [0.0, 1.0])
    @test_throws Enzyme.EnzymeError autodiff(Reverse, square_all!, Const, BatchDuplicated(y, dy), BatchDuplicated(x, dx))
    @test_throws Enzyme.EnzymeError autodiff(Forward, square_all!, Const, BatchDuplicated(y, dy), BatchDuplicated(x, dx))
    @test autodiff(Forward, x -> tiny(x), Duplicated(2.0, 1.0)) == (100.0,)
    @test_throws Enzyme.EnzymeError autodiff(Forward, x -> tiny(x, 3, 4) * tiny(x), Duplicated(2.0, 1.0))
    @test autodiff(Reverse, x -> tiny(x)^2, Active, Active(2.0)) == ((4.0,),)
    @test autodiff(Reverse, x -> sinpi(x) + x, Active, Active(0.5)) == ((1001.0,),)
    forward, reverse = autodiff_thunk(ReverseSplitWithPrimal, Const{typeof(cube)}, Active, Active{Float64})
    tape, value, _ = forward(Const(cube), Active(2.0))
    @test value == 8.0 && reverse(Const(cube), Active(2.0), 1.0, tape) == ((200.0,),)
    inner(x, y) = weigh(x, 4, y, 0.5f0)
    # A tape of the rule's own, and a collection between both sweeps.
    expected = autodiff(Reverse, inner, Active, Active(2.0), Const([1.0]))
    forward, reverse = autodiff_thunk(ReverseSplitWithPrimal, Const{typeof(inner)}, Active, Active{Float64}, Const{Vector{Float64}})
    tape, = forward(Const(inner), Active(2.0), Const([1.0]))
    GC.gc()
    [rand(10) for _ in 1:1000]
    @test reverse(Const(inner), Active(2.0), Const([1.0]), 1.0, tape) == expected && expected[1][1] != 0
end

@testset "inactive" begin
    @test autodiff(Reverse, x -> x * detached(x), Active, Active(2.0)) == ((6.0,),)
    @test autodiff(Forward, x -> x * detached(x), Duplicated(2.0, 1.0)) == (6.0,)
    @eval becomes_inactive(x) = x^2
    call() = autodiff(Reverse, becomes_inactive, Active, Active(3.0))
    @test Base.invokelatest(call) == ((6.0,),)
    @eval EnzymeRules.inactive(::typeof(becomes_inactive), args...) = nothing
    @test Base.invokelatest(call) == ((0.0,),)
end

@testset "easy" begin
    @test autodiff(Reverse, easy, Active, Active(2.0), Active(3.0)) == ((12.0, 0.0),)
    @test autodiff(Forward, easy, Duplicated(2.0, 1.0), Duplicated(3.0, 1.0)) == (12.0,)
    @test autodiff(Reverse, easy, Active, Active(2.0f0), Active(3.0f0)) == ((3.0f0, 2.0f0),)
end

@testset "questions" begin
    @test endswith(string(first(m for m in methods(EnzymeRules.forward) if occursin("easy", string(m.sig))).file), "test/rules.jl")
    @test EnzymeRules.has_frule_from_sig(Tuple{typeof(cube),Float64})
    @test EnzymeRules.has_rrule_from_sig(Tuple{typeof(cube),Float64})
    @test !EnzymeRules.has_rrule_from_sig(Tuple{typeof(sin),Float64})
    @test EnzymeRules.is_inactive_from_sig(Tuple{typeof(detached),Float64})
    @test !EnzymeRules.is_inactive_from_sig(Tuple{typeof(cube),Float64})
end

@testset "what does not fit" begin
    said(f) = try
        f()
        ""
    catch e
        sprint(showerror, e)
    end
    @test occursin("must return the value", said(() -> autodiff(Reverse, texts, Active, Active(1.0))))
    m = said(() -> autodiff(Reverse, x -> pair(x)[1], Active, Active(1.0)))
    @test occursin("rules.jl:", m) && occursin("returns Tuple", m)
    @test occursin("by the rule", said(() -> autodiff(Forward, failing, Duplicated(1.0, 1.0))))
    @test_throws DomainError autodiff(Forward, failing, Duplicated(1.0, 1.0))
    @test autodiff(Reverse, failing, Active, Active(1.0)) == ((1.0,),)
    @eval struct Scaled; by::Float64; end
    @eval (s::Scaled)(x) = s.by * x
    @eval EnzymeRules.forward(config, func::Const{Scaled}, ::Type{<:Duplicated}, x::Duplicated) = Duplicated(1.0, 1.0)
    @test_logs (:warn, r"is not used") match_mode = :any @test Base.invokelatest(() -> autodiff(Forward, x -> Scaled(3.0)(x), Duplicated(1.0, 1.0))) == (3.0,)
    @eval with_keyword(x; by = 2) = by * x
    @eval EnzymeRules.inactive(::typeof(with_keyword), args...) = nothing
    @test_logs (:warn, r"with keywords") match_mode = :any @test Base.invokelatest(() -> autodiff(Forward, x -> with_keyword(x) + x, Duplicated(1.0, 1.0))) == (1.0,)
    @test occursin("second derivatives", said(() -> hvp(v -> cube(v[1]), [1.0], [1.0])))
end
