# `autodiff` in forward mode and in reverse mode in one call: annotations become `Ref`s, the call of a thunk, and what is handed back.

# ---- what the types say ----

"The type of the value behind an annotation."
value_type(::Type{<:Annotation{T}}) where {T} = T

"Whether a value of the type has floats in itself, not behind a pointer."
has_inline_floats(T) = T <: AbstractFloat ||
    (T isa DataType && isconcretetype(T) && !Emit.is_mutable(T) && Base.allocatedinline(T) && any(has_inline_floats, fieldtypes(T)))

"The type in which a result is kept: of a few kinds of numbers the one that holds all."
function result_type(R)
    R isa Union || return R
    parts = Base.uniontypes(R)
    all(p -> p isa DataType && isconcretetype(p) && p <: Real && isbitstype(p), parts) ? promote_type(parts...) : R
end

"As `result_type`, of a result that has an adjoint: of one whose type is not known to inference the program says whether it is a number."
function active_type(R)
    R = result_type(R)
    !isconcretetype(R) && R !== Union{} && typeintersect(R, AbstractFloat) !== Union{} ? Float64 : R
end

"What the result is to the derivative if nobody says it."
function guess(::ReverseMode, R, width)
    R = active_type(R)
    R <: AbstractFloat && isconcretetype(R) && return Active
    (R === Union{} || !may_differentiate(R)) && return Const
    throw(ArgumentError("autodiff: the function returns a $R; reverse mode needs a float, or Const if what it leaves in its arguments counts"))
end
guess(::ForwardMode, R, width) = R === Union{} || !may_differentiate(R) ? Const : width == 1 ? Duplicated : BatchDuplicated

"""
    guess_activity(T, mode)

The annotation that a value of the type wants if all its floats have derivatives.
"""
function guess_activity(::Type{T}, mode::Mode) where {T}
    may_differentiate(T) || return Const{T}
    mode isa ForwardMode && return Duplicated{T}
    can_be_active(T) ? Active{T} : isconcretetype(T) && has_inline_floats(T) ? MixedDuplicated{T} : Duplicated{T}
end

# What follows runs while the first derivative of a process is awaited, and Julia compiles it then: hence few methods, not specialised, of plain
# loops over `Vector{Any}`, for which Julia itself comes with compiled code.

function joint_width(annotations::Vector{Any})
    width, has_one = 0, false
    for A in annotations
        if A <: Union{WithShadows,BatchMixedDuplicated,BatchDuplicatedFunc}
            n = batch_size(A)::Int
            width == 0 || width == n || throw(ArgumentError("autodiff: batches of different widths: $width, $n"))
            width = n
        elseif A <: Union{WithShadow,MixedDuplicated}
            has_one = true
        end
    end
    width > 0 && has_one && throw(ArgumentError("autodiff: annotations with one shadow and with several do not go together"))
    max(width, 1)
end

function check_reverse(@nospecialize(A), n::Int)
    A <: Union{WithShadow,WithShadows,BatchDuplicatedFunc} || return
    T = value_type(A)
    if has_inline_floats(T)
        instead = can_be_active(T) ? "Active" : "MixedDuplicated, whose shadow is a Ref"
        throw(ArgumentError("autodiff: argument $n is a $T, whose floats are values: their derivatives can't be added to a shadow; use $instead"))
    end
end

function check_forward(@nospecialize(A), n::Int)
    A <: Active && throw(ArgumentError("autodiff: argument $n is Active, which is of reverse mode: use Duplicated(x, dx)"))
end

function flags_of(@nospecialize(mode))
    flags = String[]
    runtime_activity(mode) && push!(flags, "enzyme_runtime_activity")
    strong_zero(mode) && push!(flags, "enzyme_strong_zero")
    flags
end

"What was asked for, to be said if it goes wrong."
struct Asked
    name::String
    mode::Any
    f::Any
    arguments::Vector{Any}
end

function words(asked::Asked)
    name = asked.mode isa ForwardMode ? "Forward" : "Reverse"
    F = value_type(asked.f)
    f = Base.issingletontype(F) ? string(F.instance) : string(F)
    "$(asked.name)($name, $f, $(join(("::$(value_type(A))" for A in asked.arguments), ", ")))"
end
words(text::String) = text

# ---- calls ----

# Objects of the collector's even where the compiler could put them on the stack: the run-time system looks at their headers.
# Not by a constructor, which Julia would not compile for each type of functions.
@noinline make_ref(::Type{T}, x::T) where {T} = (r = RefValue{T}(); setfield!(r, :x, x); r)
@noinline make_ref(::Type{T}) where {T} = clear!(Ref{T}())

"All bytes zero: no tangent, no adjoint, no object."
@generated function clear!(r::RefValue{T}) where {T}
    Base.allocatedinline(T) || return :(r)
    quote
        GC.@preserve r ccall(:memset, Ptr{Cvoid}, (Ptr{Cvoid}, Cint, Csize_t), pointer_from_objref(r), 0, $(sizeof(T)))
        r
    end
end

"""
Adds statements that make the `Ref`s of an argument; `value` is an expression for the annotation. The names of the `Ref`s of its shadows.
"""
function refs_of!(p, @nospecialize(value), @nospecialize(A), width::Int, n::Int)
    T = value_type(A)
    main = Symbol("a", n)
    # Of a function without data there is one, which holds nothing.
    push!(p.made, Expr(:(=), main, Base.issingletontype(T) ? QuoteNode(Ref{T}(T.instance)) : :(make_ref($T, $value.val))))
    push!(p.pointers, main)
    names = Any[]
    if !(A <: Const)
        for lane in 1:width
            d = Symbol("d", n, "_", lane)
            push!(names, d)
            push!(p.pointers, d)
            push!(p.made, Expr(:(=), d, shadow_of(value, A, T, lane)))
        end
    end
    push!(p.slots, Slot(length(names)))
    push!(p.types, RefValue{T})
    names
end

"An expression for the `Ref` of one shadow."
function shadow_of(@nospecialize(value), @nospecialize(A), @nospecialize(T), lane::Int)
    A <: Active ? :(make_ref($T)) : A <: WithShadow ? :(make_ref($T, $value.dval)) : A <: WithShadows ? :(make_ref($T, $value.dval[$lane])) :
        A <: BatchDuplicatedFunc ? :(make_ref($T, $(get_func(A))()[$lane])) : A <: MixedDuplicated ? :($value.dval) : A <: BatchMixedDuplicated ? :($value.dval[$lane]) :
        throw(ArgumentError("autodiff: $A is no annotation of an argument"))
end

"What a call is made of."
struct Parts
    made::Vector{Any}     # statements that make the `Ref`s
    pointers::Vector{Any} # their names, as the thunk takes them
    slots::Vector{Slot}
    types::Vector{Any}    # of `primal`'s arguments
    lanes::Vector{Any}    # second `Ref`s of the result: adjoints, tangents or shadows
    shadows::Vector{Any}  # second `Ref`s of each argument
end

"The parts for a function and its arguments. `start`: an expression for what the lanes of the result begin as, `nothing` where no result is kept."
function parts_of(@nospecialize(FA), AS::Vector{Any}, @nospecialize(R), width::Int, @nospecialize(start))
    p = Parts(Any[], Any[], Slot[], Any[], Any[], Any[])
    for n in 1:width
        push!(p.lanes, Symbol("lane", n))
    end
    if start !== nothing
        push!(p.made, :(result = make_ref($R)))
        push!(p.pointers, :result)
        for l in p.lanes
            push!(p.made, Expr(:(=), l, start))
            push!(p.pointers, l)
        end
        push!(p.slots, Slot(width))
    end
    push!(p.types, start === nothing ? Nothing : RefValue{R})
    refs_of!(p, :f, FA, width, 0)
    for n in 1:length(AS)
        push!(p.shadows, refs_of!(p, Expr(:ref, :args, n), AS[n], width, n))
    end
    p
end

plan_of(kind::Symbol, p::Parts, width::Int, @nospecialize(mode), what) =
    Plan(kind, Tuple{typeof(primal),p.types...}, p.slots, width, flags_of(mode), what)

"The values behind the second `Ref`s of one place: one, or a tuple where there are several lanes."
function lane_values(refs::Vector{Any}, width::Int)
    width == 1 && return Expr(:ref, refs[1])
    values = Expr(:tuple)
    for r in refs
        push!(values.args, Expr(:ref, r))
    end
    values
end

"The expression of a call: `Ref`s made, the thunk called, `back` evaluated. `told`: annotations of what the thunk may store references in."
function call_expression(plan::Plan, made::Vector{Any}, pointers::Vector{Any}, @nospecialize(back), told::Vector{Any})
    quote
        $(made...)
        roots = Any[]
        GC.@preserve roots $(pointers...) begin
            perform($(QuoteNode(Cached())), $(QuoteNode(plan)), roots, ($(told...),), $(pointers...))
            return $back
        end
    end
end
call_expression(plan::Plan, p::Parts, @nospecialize(back)) = call_expression(plan, p.made, p.pointers, back, Any[:f, :(args...)])

throwing(e) = :(throw($e))

@generated function reverse_call(mode::M, ::Type{RA}, ::Type{R0}, f::FA, args::Vararg{Annotation,N}) where {M<:ReverseMode,RA,R0,FA,N}
    try
        reverse_expression(M.instance, RA, R0, FA, Any[args...])
    catch e
        throwing(e)
    end
end

function reverse_expression(@nospecialize(mode), @nospecialize(RA), @nospecialize(R0), @nospecialize(FA), AS::Vector{Any})
    R = RA <: Active ? active_type(R0) : result_type(R0)
    width = joint_width(Any[FA, AS...])
    for n in 1:length(AS)
        check_reverse(AS[n], n)
    end
    what = Asked("autodiff", mode, FA, AS)
    # A function that always throws does so, whatever was asked for.
    active = RA <: Active && R !== Union{}
    active && !(R <: AbstractFloat && isconcretetype(R)) &&
        refuse("$(words(what)): the result is Active, but its type is $R0, no float")
    RA <: Union{WithShadow,WithShadows} &&
        throw(ArgumentError("autodiff: in reverse mode a result is Active or Const; arrays that are returned need autodiff_thunk(ReverseSplitWithPrimal, ...)"))
    start = active ? :(make_ref($R, one($R))) : needs_primal(mode) ? :(make_ref($R)) : nothing
    p = parts_of(FA, AS, R, width, start)
    derivatives = Expr(:tuple)
    for n in 1:length(AS)
        push!(derivatives.args, AS[n] <: Active ? lane_values(p.shadows[n], width) : nothing)
    end
    back = needs_primal(mode) ? :(($derivatives, result[])) : :(($derivatives,))
    call_expression(plan_of(:reverse, p, width, mode, what), p, back)
end

@generated function forward_call(mode::M, ::Type{RA}, ::Type{R0}, f::FA, args::Vararg{Annotation,N}) where {M<:ForwardMode,RA,R0,FA,N}
    try
        forward_expression(M.instance, RA, R0, FA, Any[args...])
    catch e
        throwing(e)
    end
end

function forward_expression(@nospecialize(mode), @nospecialize(RA), @nospecialize(R0), @nospecialize(FA), AS::Vector{Any})
    R = result_type(R0)
    width = joint_width(Any[FA, AS...])
    for n in 1:length(AS)
        check_forward(AS[n], n)
    end
    what = Asked("autodiff", mode, FA, AS)
    RA <: Active && throw(ArgumentError("autodiff: an Active result is of reverse mode: in forward mode it is Duplicated or Const"))
    wants = !(RA <: Const)
    # Which of several types the shadow is of the engine would not say.
    wants && R isa Union && (R = Any)
    width > 1 && RA <: WithShadow && throw(ArgumentError("autodiff: the result of a batch is BatchDuplicated or Const"))
    p = parts_of(FA, AS, R, width, wants || needs_primal(mode) ? :(make_ref($R)) : nothing)
    back, back_first = Expr(:tuple), Any[]
    if wants
        R isa DataType && R <: Vector && is_flat(R) && append!(back_first, [:(within_autodiff() || length(result[]) == length($l[]) || seldom(TypeTags.follow_header!, result[], $l[])) for l in p.lanes])
        is_flat(R) && seldom(Others.has_others, R) && append!(back_first, [:(within_autodiff() || seldom(Others.follow!, result, $l)) for l in p.lanes])
        tangent = is_flat(R) ? lane_values(p.lanes, width) : tangents_of(p.lanes, width, !runtime_activity(mode))
        push!(back.args, width == 1 ? tangent : :(NamedTuple{$(ntuple(Symbol, width))}($tangent)))
    end
    needs_primal(mode) && push!(back.args, :(result[]))
    isempty(back_first) || (back = Expr(:block, back_first..., back))
    call_expression(plan_of(:forward, p, width, mode, what), p, back)
end

"As `lane_values`, of results that hold references: the tangent of what has none is zero, also where it is its own shadow."
function tangents_of(refs::Vector{Any}, width::Int, mends::Bool)
    values = Any[:(seldom(tangent_of, result, $r, $mends)) for r in refs]
    width == 1 ? values[1] : Expr(:tuple, values...)
end
reference(r::RefValue) = unsafe_load(Ptr{Ptr{Cvoid}}(pointer_from_objref(r)))

function tangent_of(result::RefValue{T}, lane::RefValue{T}, mends::Bool) where {T}
    if isconcretetype(T) && Base.allocatedinline(T)
        mends && GC.@preserve result lane Dynamic.mend!(T, pointer_from_objref(result), pointer_from_objref(lane), Dynamic.Mending(Any[], 1))
    elseif reference(lane) == C_NULL || reference(lane) == reference(result) && may_differentiate(typeof(result[]))
        return make_zero(result[])
    elseif mends
        Dynamic.mend_object!(result[], lane[], Any[])
    end
    seldom(TypeTags.follow_result!, result[], lane[])
    seldom(Others.follow!, result, lane)
    lane[]
end

"Whether values of the type are numbers, structures of numbers, or arrays of such."
is_flat(@nospecialize(T)) = isbitstype(T) || T <: Array && T isa DataType && isbitstype(eltype(T))

@generated argument_types(::Vararg{Annotation,N}) where {N} = :(Tuple{})
@generated argument_types(args::Tuple) = value_types(args)
function value_types(@nospecialize(AS))
    types = Any[]
    for A in AS.parameters
        push!(types, value_type(A))
    end
    Tuple{types...}
end

@inline result_of(f::Annotation, args::Tuple) = (anew(); Core.Compiler.return_type(f.val, argument_types(args)))
# Defined again where all that was inferred of callers is to be (nested.jl).
anew() = nothing

"""
    autodiff(mode, f, [result activity], arguments...)

The derivative of `f` at `arguments`, each behind an annotation (`Const`, `Active`, `Duplicated`, ...). Reverse mode returns
`((derivatives of Active arguments, nothing for others...),)`, forward mode `(tangent of the result,)`; with the primal, the value comes last.
"""
@inline autodiff(mode::ReverseMode, f::Annotation, ::Type{RA}, args::Vararg{Annotation,N}) where {RA<:Annotation,N} =
    reverse_call(mode, RA, result_of(f, args), f, args...)
@inline autodiff(mode::ForwardMode, f::Annotation, ::Type{RA}, args::Vararg{Annotation,N}) where {RA<:Annotation,N} =
    forward_call(mode, RA, result_of(f, args), f, args...)

@inline function autodiff(mode::Mode, f::Annotation, args::Vararg{Annotation,N}) where {N}
    R = result_of(f, args)
    autodiff(mode, f, guessed(mode, R, args), args...)
end
@generated guessed(mode::M, ::Type{R}, args::Tuple) where {M,R} = try
    guess(M.instance, R, joint_width(Any[args.parameters...]))
catch e
    throwing(e)
end

@inline autodiff(mode::Mode, f::F, args...) where {F} = autodiff(mode, annotated(f), each_annotated(args...)...)
@inline autodiff(mode::Mode, f::F, ::Type{RA}, args...) where {F,RA<:Annotation} = autodiff(mode, annotated(f), RA, each_annotated(args...)...)

annotated(f::Annotation) = f
annotated(f) = Const(f)
each_annotated(args...) = map(check_annotated, args)
check_annotated(a::Annotation) = a
check_annotated(a) = throw(ArgumentError("autodiff: an argument of type $(typeof(a)) has no annotation: wrap it in Const, Active or Duplicated"))

"As `autodiff`: derivatives of derivatives need no other name here."
@inline autodiff_deferred(mode::Mode, f, args...) = autodiff(mode, f, args...)
