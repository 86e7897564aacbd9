# Modes and annotations: what is asked for, and what each argument is to the derivative. Names and meaning are Enzyme.jl's.

abstract type Annotation{T} end

"The argument has no derivative."
struct Const{T} <: Annotation{T}
    val::T
end

"The argument is a value; reverse mode returns its derivative."
struct Active{T} <: Annotation{T}
    val::T
    Active{T}(x) where {T} = new{T}(check_active(x))
end
Active(x::T) where {T} = Active{T}(x)

const SHADOW = "The argument comes with its shadow: tangents, or memory to which derivatives are added"
const UNNEEDED = "; what the function leaves in the value is not needed"

for (name, batch, more) in ((:Duplicated, :BatchDuplicated, ""), (:DuplicatedNoNeed, :BatchDuplicatedNoNeed, UNNEEDED))
    @eval begin
        @doc $(SHADOW * more * ".") struct $name{T} <: Annotation{T}
            val::T
            dval::T
            $name{T}(x, dx) where {T} = new{T}(x, dx)
        end
        $name(x::T, dx::T) where {T} = (check_shadow(x, dx); $name{T}(x, dx))
        @doc $("The argument comes with several shadows" * more * ".") struct $batch{T,N} <: Annotation{T}
            val::T
            dval::NTuple{N,T}
            $batch{T,N}(x, dx) where {T,N} = new{T,N}(x, dx)
        end
        $batch(x::T, dx::NTuple{N,T}) where {T,N} = (foreach(d -> check_shadow(x, d), dx); $batch{T,N}(x, dx))
    end
end
Duplicated(x, dx) = throw(ArgumentError("Duplicated: the shadow is a $(typeof(dx)), its value a $(typeof(x)): both must be of one type"))

"A value with parts that are values and parts that are memory; the shadow lies behind a `Ref`, whose value parts grow."
struct MixedDuplicated{T} <: Annotation{T}
    val::T
    dval::Base.RefValue{T}
end

"As `MixedDuplicated`, with several shadows."
struct BatchMixedDuplicated{T,N} <: Annotation{T}
    val::T
    dval::NTuple{N,Base.RefValue{T}}
end

"As `BatchDuplicated`, with `N` shadows that the function `Func` makes, as a tuple, when the derivative is taken."
struct BatchDuplicatedFunc{T,N,Func} <: Annotation{T}
    val::T
end
get_func(::BatchDuplicatedFunc{T,N,Func}) where {T,N,Func} = Func
get_func(::Type{BatchDuplicatedFunc{T,N,Func}}) where {T,N,Func} = Func

const WithShadow{T} = Union{Duplicated{T},DuplicatedNoNeed{T}}
const WithShadows{T,N} = Union{BatchDuplicated{T,N},BatchDuplicatedNoNeed{T,N}}

batch_size(::Type{<:WithShadows{T,N}}) where {T,N} = N
batch_size(::Type{<:BatchMixedDuplicated{T,N}}) where {T,N} = N
batch_size(::Type{<:BatchDuplicatedFunc{T,N}}) where {T,N} = N
batch_size(::Type{<:Annotation}) = 1
batch_size(::A) where {A<:Annotation} = batch_size(A)

Base.eltype(::Type{<:Annotation{T}}) where {T} = T
Base.:(==)(a::A, b::A) where {A<:Annotation} = all(getfield(a, n) == getfield(b, n) for n in fieldnames(A))

function check_shadow(x::Array, dx::Array)
    size(x) == size(dx) || throw(ArgumentError("Duplicated: the shadow has size $(size(dx)), its value $(size(x))"))
    x === dx && throw(ArgumentError(OWN_MEMORY))
    nothing
end
check_shadow(x::T, dx::T) where {T} = ismutabletype(T) && x === dx && may_differentiate(T) ? throw(ArgumentError(OWN_MEMORY)) : nothing
const OWN_MEMORY = "Duplicated: the shadow is the value itself: give memory of its own, as by make_zero"

check_active(x::T) where {T} = can_be_active(T) ? x : throw(ArgumentError(active_message(T)))

function active_message(T)
    T <: Integer && return "Active: a $T has no derivative: use Const"
    (T <: AbstractArray || ismutabletype(T)) && return "Active: a $T is memory, whose derivatives are added to a shadow: use Duplicated(x, make_zero(x))"
    "Active: a $T is no value made of floats alone: use Const, Duplicated or MixedDuplicated"
end

ismutabletype(T) = Emit.is_mutable(T)

"Whether values of the type are floats, or structures by value with floats and nothing that is memory."
@generated can_be_active(::Type{T}) where {T} = isbitstype(T) && has_floats(T)

has_floats(::Type{<:AbstractFloat}) = true
has_floats(T) = T isa DataType && isconcretetype(T) && fieldcount(T) > 0 && any(has_floats, fieldtypes(T))

"Whether a value of the type may hold, or lead to, a float."
may_differentiate(T) = may_differentiate(T, Set{Any}())
function may_differentiate(T, seen)
    T <: AbstractFloat && return true
    T in seen && return false
    push!(seen, T)
    (T <: Integer || T <: AbstractString || T === Symbol || T === Nothing || T === Missing || T <: Type || T <: AbstractChar || T === Union{}) && return false
    T isa Union && return may_differentiate(T.a, seen) || may_differentiate(T.b, seen)
    T <: Array && return T isa DataType ? may_differentiate(eltype(T), seen) : true
    isconcretetype(T) || return true
    any(F -> may_differentiate(F, seen), fieldtypes(T))
end

# ---- modes ----

abstract type Mode end

"Forward mode. `Primal`: the value is returned, too."
struct ForwardMode{Primal,RuntimeActivity,StrongZero} <: Mode end

"Reverse mode in one call."
struct ReverseMode{Primal,RuntimeActivity,StrongZero} <: Mode end

"Reverse mode in two calls, with a tape between them."
struct ReverseModeSplit{Primal,Shadow,Width,RuntimeActivity,StrongZero} <: Mode end

const Forward = ForwardMode{false,false,false}()
const ForwardWithPrimal = ForwardMode{true,false,false}()
const Reverse = ReverseMode{false,false,false}()
const ReverseWithPrimal = ReverseMode{true,false,false}()
const ReverseSplitNoPrimal = ReverseModeSplit{false,true,0,false,false}()
const ReverseSplitWithPrimal = ReverseModeSplit{true,true,0,false,false}()

ReverseSplitWidth(::ReverseModeSplit{P,S,W,R,Z}, ::Val{N}) where {P,S,W,R,Z,N} = ReverseModeSplit{P,S,N,R,Z}()

"""
    ReverseSplitModified(mode, Val(which))

The mode itself: arguments may always be modified between the sweeps, what the second needs of them is kept.
"""
ReverseSplitModified(mode::ReverseModeSplit, which::Val) = mode

"Reverse mode of functions that are holomorphic in all complex arguments: derivatives are f', not the gradient of its real part."
struct HolomorphicMode{Primal,RuntimeActivity,StrongZero} <: Mode end
const ReverseHolomorphic = HolomorphicMode{false,false,false}()
const ReverseHolomorphicWithPrimal = HolomorphicMode{true,false,false}()

set_runtime_activity(::HolomorphicMode{P,R,Z}, on::Bool = true) where {P,R,Z} = HolomorphicMode{P,on,Z}()
set_strong_zero(::HolomorphicMode{P,R,Z}, on::Bool = true) where {P,R,Z} = HolomorphicMode{P,R,on}()
WithPrimal(::HolomorphicMode{P,R,Z}) where {P,R,Z} = HolomorphicMode{true,R,Z}()
NoPrimal(::HolomorphicMode{P,R,Z}) where {P,R,Z} = HolomorphicMode{false,R,Z}()
needs_primal(::HolomorphicMode{P}) where {P} = P
runtime_activity(::HolomorphicMode{P,R}) where {P,R} = R
strong_zero(::HolomorphicMode{P,R,Z}) where {P,R,Z} = Z
set_runtime_activity(mode::Mode, like::Mode) = set_runtime_activity(mode, runtime_activity(like))
set_strong_zero(mode::Mode, like::Mode) = set_strong_zero(mode, strong_zero(like))

set_runtime_activity(::ForwardMode{P,R,Z}, on::Bool = true) where {P,R,Z} = ForwardMode{P,on,Z}()
set_runtime_activity(::ReverseMode{P,R,Z}, on::Bool = true) where {P,R,Z} = ReverseMode{P,on,Z}()
set_runtime_activity(::ReverseModeSplit{P,S,W,R,Z}, on::Bool = true) where {P,S,W,R,Z} = ReverseModeSplit{P,S,W,on,Z}()
set_strong_zero(::ForwardMode{P,R,Z}, on::Bool = true) where {P,R,Z} = ForwardMode{P,R,on}()
set_strong_zero(::ReverseMode{P,R,Z}, on::Bool = true) where {P,R,Z} = ReverseMode{P,R,on}()
set_strong_zero(::ReverseModeSplit{P,S,W,R,Z}, on::Bool = true) where {P,S,W,R,Z} = ReverseModeSplit{P,S,W,R,on}()
clear_runtime_activity(mode::Mode) = set_runtime_activity(mode, false)
"""
    set_err_if_func_written(mode)

The mode itself: a derivative that would go through the memory of a function that is `Const` is refused, always.
"""
set_err_if_func_written(mode::Mode, on::Bool = true) = mode
clear_err_if_func_written(mode::Mode) = mode

"Ways to call a derivative. There is one here, whatever is asked for."
abstract type ABI end
struct FFIABI <: ABI end
struct InlineABI <: ABI end
struct NonGenABI <: ABI end
const DefaultABI = FFIABI
set_abi(mode::Mode, ::Type{<:ABI}) = mode
clear_strong_zero(mode::Mode) = set_strong_zero(mode, false)
WithPrimal(::ForwardMode{P,R,Z}) where {P,R,Z} = ForwardMode{true,R,Z}()
WithPrimal(::ReverseMode{P,R,Z}) where {P,R,Z} = ReverseMode{true,R,Z}()
WithPrimal(::ReverseModeSplit{P,S,W,R,Z}) where {P,S,W,R,Z} = ReverseModeSplit{true,S,W,R,Z}()
NoPrimal(::ForwardMode{P,R,Z}) where {P,R,Z} = ForwardMode{false,R,Z}()
NoPrimal(::ReverseMode{P,R,Z}) where {P,R,Z} = ReverseMode{false,R,Z}()
NoPrimal(::ReverseModeSplit{P,S,W,R,Z}) where {P,S,W,R,Z} = ReverseModeSplit{false,S,W,R,Z}()

needs_primal(::ForwardMode{P}) where {P} = P
needs_primal(::ReverseMode{P}) where {P} = P
needs_primal(::ReverseModeSplit{P}) where {P} = P
runtime_activity(::ForwardMode{P,R}) where {P,R} = R
runtime_activity(::ReverseMode{P,R}) where {P,R} = R
runtime_activity(::ReverseModeSplit{P,S,W,R}) where {P,S,W,R} = R
strong_zero(::ForwardMode{P,R,Z}) where {P,R,Z} = Z
strong_zero(::ReverseMode{P,R,Z}) where {P,R,Z} = Z
strong_zero(::ReverseModeSplit{P,S,W,R,Z}) where {P,S,W,R,Z} = Z
