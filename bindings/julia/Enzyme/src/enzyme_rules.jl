# Derivatives that a program gives itself, by methods of the functions here. Names and meaning are those of Enzyme.jl's module of this name;
# rules.jl says which rules can be used.

"""
    EnzymeRules.inactive(::typeof(f), args...) = nothing

    function EnzymeRules.forward(config, func::Const{typeof(f)}, ::Type{<:Duplicated}, x::Duplicated)
        Duplicated(func.val(x.val), derivative * x.dval)
    end

    function EnzymeRules.augmented_primal(config, func::Const{typeof(f)}, ::Type{<:Active}, x::Active)
        AugmentedReturn(func.val(x.val), nothing, tape)
    end
    EnzymeRules.reverse(config, func::Const{typeof(f)}, dret::Active, tape, x::Active) = (derivative * dret.val,)
"""
module EnzymeRules

import ..Annotation, ..Const, ..Active, ..Duplicated

export FwdConfig, FwdConfigWidth, RevConfig, RevConfigWidth, AugmentedReturn
export needs_primal, needs_shadow, width, overwritten, runtime_activity, strong_zero, primal_type, shadow_type
export has_frule_from_sig, has_rrule_from_sig, is_inactive_from_sig

"What a forward rule is asked for."
struct FwdConfig{NeedsPrimal,NeedsShadow,Width,RuntimeActivity,StrongZero} end
const FwdConfigWidth{Width} = FwdConfig{P,S,Width} where {P,S}

"What the two parts of a reverse rule are asked for; `Overwritten`: which of function and arguments may have changed in between."
struct RevConfig{NeedsPrimal,NeedsShadow,Width,Overwritten,RuntimeActivity,StrongZero} end
const RevConfigWidth{Width} = RevConfig{P,S,Width} where {P,S}

needs_primal(::FwdConfig{P}) where {P} = P
needs_primal(::RevConfig{P}) where {P} = P
needs_shadow(::FwdConfig{P,S}) where {P,S} = S
needs_shadow(::RevConfig{P,S}) where {P,S} = S
width(::FwdConfig{P,S,W}) where {P,S,W} = W
width(::RevConfig{P,S,W}) where {P,S,W} = W
overwritten(::RevConfig{P,S,W,O}) where {P,S,W,O} = O
runtime_activity(::FwdConfig{P,S,W,R}) where {P,S,W,R} = R
runtime_activity(::RevConfig{P,S,W,O,R}) where {P,S,W,O,R} = R
strong_zero(::FwdConfig{P,S,W,R,Z}) where {P,S,W,R,Z} = Z
strong_zero(::RevConfig{P,S,W,O,R,Z}) where {P,S,W,O,R,Z} = Z

primal_type(config, ::Type{<:Annotation{T}}) where {T} = needs_primal(config) ? T : Nothing
shadow_type(config, ::Type{<:Annotation{T}}) where {T} = needs_shadow(config) ? T : Nothing

"What `augmented_primal` returns: the value, its shadow (`nothing` for numbers) and what `reverse` is handed back."
struct AugmentedReturn{Primal,Shadow,Tape}
    primal::Primal
    shadow::Shadow
    tape::Tape
end
(::Type{AugmentedReturn{P,S}})(primal, shadow, tape) where {P,S} = AugmentedReturn{P,S,typeof(tape)}(primal, shadow, tape)

function forward end
function augmented_primal end
function reverse end
function inactive end
"As `inactive`: no function with a rule is inlined."
function inactive_noinl end
"Says of a function that what it returns is memory of its own. May be stated; the engine does not ask."
function noalias end
"Says of a function that what it is given as keywords, or as arguments of a type, has no derivative. May be stated; derivatives go through them all the same."
function inactive_kwarg end
@doc (@doc inactive_kwarg) function inactive_arg end

annotated(TT) = map(T -> Annotation{T}, Base.unwrap_unionall(TT).parameters)

"Whether a call with the types of the tuple type `TT`, the function's first, has a rule."
has_frule_from_sig(TT) = is_met(forward, Tuple{FwdConfig,annotated(TT)[1],Type{<:Annotation},annotated(TT)[2:end]...})
has_rrule_from_sig(TT) = is_met(augmented_primal, Tuple{RevConfig,annotated(TT)[1],Type{<:Annotation},annotated(TT)[2:end]...})
is_inactive_from_sig(TT) = is_met(inactive, TT) || is_met(inactive_noinl, TT)
is_met(rule, T) = any(m -> typeintersect(m.sig, Tuple{typeof(rule),Base.unwrap_unionall(T).parameters...}) !== Union{}, methods(rule))

"""
    EnzymeRules.@easy_rule(f(x::Float64, y), @setup(common = ...), (df_dx, df_dy))

Both rules of a function of numbers that returns one, by its partial derivatives; `Ω` is the value, and `Enzyme.Const` stands for a derivative that is none.
"""
macro easy_rule(call, rest...)
    Meta.isexpr(call, :call) || throw(ArgumentError("@easy_rule: its first argument is a call, as in f(x, y)"))
    setup = Any[]
    if !isempty(rest) && Meta.isexpr(rest[1], :macrocall) && rest[1].args[1] === Symbol("@setup")
        setup, rest = rest[1].args[3:end], rest[2:end]
    end
    length(rest) == 1 || throw(ArgumentError("@easy_rule: one tuple of partial derivatives follows, for a result that is one number"))
    f, arguments = call.args[1], call.args[2:end]
    names = map(a -> Meta.isexpr(a, :(::)) ? a.args[1] : a, arguments)
    types = map(a -> Meta.isexpr(a, :(::)) ? a.args[2] : :Real, arguments)
    partials = Meta.isexpr(rest[1], :tuple) ? rest[1].args : Any[rest[1]]
    length(partials) == length(names) || throw(ArgumentError("@easy_rule: $(length(partials)) partial derivatives for $(length(names)) arguments"))
    Omega = :Ω
    taken = [:($n = $(Symbol(:annotated_, n)).val) for n in names]
    all = [Symbol(:annotated_, n) for n in names]
    given = [:($a::$Annotation{<:$T}) for (a, T) in zip(all, types)]
    rules = EnzymeRules
    methods = Base.remove_linenums!(quote
        function $rules.forward(config, func::$Const{typeof($f)}, ::Type{<:$Annotation}, $(given...))
            $(taken...)
            $Omega = func.val($(names...))
            $(setup...)
            $Duplicated($Omega, $rules.tangent($Omega, ($(partials...),), ($(all...),)))
        end
        function $rules.augmented_primal(config, func::$Const{typeof($f)}, ::Type{<:$Annotation}, $(given...))
            $(taken...)
            $Omega = func.val($(names...))
            $(setup...)
            $rules.AugmentedReturn($Omega, nothing, ($(partials...),))
        end
        function $rules.reverse(config, func::$Const{typeof($f)}, dret::$Active, tape, $(given...))
            $rules.adjoints(dret.val, tape, ($(all...),))
        end
    end)
    foreach(m -> pushfirst!(m.args[2].args, __source__), methods.args)
    esc(:($methods; nothing))
end

partial(d::Number) = d
partial(::Type{<:Const}) = false
partial(d) = throw(ArgumentError("@easy_rule: a partial derivative is a $(typeof(d)), no number"))

tangent(value, partials, arguments) = oftype(value, sum(map((d, a) -> a isa Duplicated ? partial(d) * a.dval : zero(value), partials, arguments)))
adjoints(seed, partials, arguments) = map((d, a) -> a isa Active ? oftype(a.val, partial(d) * seed) : nothing, partials, arguments)

end
