# `autodiff` in forward mode and in reverse mode in one call: annotations become `Ref`s, the call of a thunk, and what is handed back.

# ---- what the types say ----

"The type of the value behind an annotation."
value_type(::Type{<:Annotation{T}}) where {T} = T

"Whether a value of the type has floats in itself, not behind a pointer."
has_inline_floats(T) = T <: AbstractFloat ||
    (T isa DataType && isconcretetype(T) && !T.mutable && Base.allocatedinline(T) && any(has_inline_floats, fieldtypes(T)))

"The type in which a result is kept: of a few kinds of numbers the one that holds all."
function result_type(R)
    R isa Union || return R
    parts = Base.uniontypes(R)
    all(p -> p isa DataType && isconcretetype(p) && p <: Real && isbitstype(p), parts) ? promote_type(parts...) : R
end

"What the result is to the derivative if nobody says it."
function guess(::ReverseMode, R, width)
    R = result_type(R)
    R <: AbstractFloat && isconcretetype(R) && return Active
    (R === Union{} || !may_differentiate(R)) && return Const
    throw(ArgumentError("autodiff: the function returns a $R; reverse mode needs a float, or Const if what it leaves in its arguments counts"))
end
guess(::ForwardMode, R, width) = R === Union{} || !may_differentiate(R) ? Const : width == 1 ? Duplicated : BatchDuplicated

function joint_width(annotations)
    widths = unique(batch_size(A) for A in annotations if A <: Union{WithShadows,BatchMixedDuplicated})
    length(widths) > 1 && throw(ArgumentError("autodiff: batches of different widths: $(join(widths, ", "))"))
    isempty(widths) && return 1
    any(A -> A <: Union{WithShadow,MixedDuplicated}, annotations) &&
        throw(ArgumentError("autodiff: annotations with one shadow and with several do not go together"))
    widths[1]
end

function check_reverse(A, n)
    T = value_type(A)
    if A <: Union{WithShadow,WithShadows} && has_inline_floats(T)
        instead = can_be_active(T) ? "Active" : "MixedDuplicated, whose shadow is a Ref"
        throw(ArgumentError("autodiff: argument $n is a $T, whose floats are values: their derivatives can't be added to a shadow; use $instead"))
    end
end

function check_forward(A, n)
    A <: Active && throw(ArgumentError("autodiff: argument $n is Active, which is of reverse mode: use Duplicated(x, dx)"))
end

flags_of(mode) = [["enzyme_runtime_activity" for _ in 1:runtime_activity(mode)]; ["enzyme_strong_zero" for _ in 1:strong_zero(mode)]]

function describe(mode, F, types)
    name = mode isa ForwardMode ? "Forward" : "Reverse"
    f = Base.issingletontype(F) ? string(F.instance) : string(F)
    "autodiff($name, $f, $(join(("::$T" for T in types), ", ")))"
end

# ---- calls ----

# Objects of the collector's even where the compiler could put them on the stack: the run-time system looks at their headers.
@noinline make_ref(::Type{T}, x) where {T} = Ref{T}(x)
@noinline make_ref(::Type{T}) where {T} = clear!(Ref{T}())

"All bytes zero: no tangent, no adjoint, no object."
@generated function clear!(r::RefValue{T}) where {T}
    Base.allocatedinline(T) || return :(r)
    quote
        GC.@preserve r ccall(:memset, Ptr{Cvoid}, (Ptr{Cvoid}, Cint, Csize_t), pointer_from_objref(r), 0, $(sizeof(T)))
        r
    end
end

@inline call(address::Ptr{Cvoid}, slots::NTuple{N,Ptr{Cvoid}}) where {N} = ccall(address, Cvoid, (Ref{NTuple{N,Ptr{Cvoid}}},), slots)

# What a function stores in an object the engine stores in its shadow, of which the collector is not told: old objects must be looked at
# again, or what is new in them goes.
@noinline tell_collector(annotations...) = (seen = IdDict(); foreach(a -> tell_of(a, seen), annotations))
tell_of(a::Union{Const,Active}, seen) = nothing
tell_of(a::Annotation, seen) = look_again(a.dval, seen)

look_again(x::Union{AbstractFloat,Integer,AbstractString,Symbol,Nothing,Type,Module}, seen) = nothing
function look_again(x::T, seen) where {T}
    (isbitstype(T) || T <: Array && isbitstype(eltype(T)) || haskey(seen, x)) && return
    if ismutabletype(T)
        seen[x] = true
        header = unsafe_load(Ptr{UInt}(pointer_from_objref(x)) - sizeof(UInt))
        header & 3 == 3 && ccall(:jl_gc_queue_root, Cvoid, (Any,), x)
    end
    if x isa Array
        for n in eachindex(x)
            isassigned(x, n) && look_again(x[n], seen)
        end
    else
        for n in 1:fieldcount(T)
            isdefined(x, n) && look_again(getfield(x, n), seen)
        end
    end
end

"Statements that make the `Ref`s of an argument, and their names; `value` is an expression for the annotation."
function refs_of(value, A, width, n)
    T = value_type(A)
    main, made = Symbol(:a, n), Expr[]
    push!(made, :($main = make_ref($T, $value.val)))
    names = [Symbol(:d, n, :_, lane) for lane in 1:width]
    if A <: Const
        return made, main, Symbol[]
    elseif A <: Active
        append!(made, (:($d = make_ref($T)) for d in names))
    elseif A <: WithShadow
        push!(made, :($(names[1]) = make_ref($T, $value.dval)))
    elseif A <: WithShadows
        append!(made, (:($d = make_ref($T, $value.dval[$lane])) for (lane, d) in enumerate(names)))
    elseif A <: MixedDuplicated
        push!(made, :($(names[1]) = $value.dval))
    elseif A <: BatchMixedDuplicated
        append!(made, (:($d = $value.dval[$lane]) for (lane, d) in enumerate(names)))
    else
        throw(ArgumentError("autodiff: $A is no annotation of an argument"))
    end
    made, main, names
end

"What a call is made of."
struct Parts
    made::Vector{Expr}              # statements that make the `Ref`s
    pointers::Vector{Symbol}        # their names, as the thunk takes them
    slots::Vector{Slot}
    types::Vector{Any}              # of `primal`'s arguments
    lanes::Vector{Symbol}           # second `Ref`s of the result: adjoints, tangents or shadows
    shadows::Vector{Vector{Symbol}} # second `Ref`s of each argument
end

"The parts for a function and its arguments. `start`: an expression for what the lanes of the result begin as, `nothing` where no result is kept."
function parts_of(FA, AS, R, width, start)
    lanes = Symbol[Symbol(:lane, n) for n in 1:width]
    p = Parts(Expr[], Symbol[], Slot[], Any[], lanes, Vector{Symbol}[])
    if start !== nothing
        push!(p.made, :(result = make_ref($R)))
        append!(p.made, (:($l = $start) for l in lanes))
        append!(p.pointers, [:result; lanes])
        push!(p.slots, Slot(width))
    end
    push!(p.types, start === nothing ? Nothing : RefValue{R})
    for (n, (value, A)) in enumerate([(:f, FA); [(:(args[$n]), A) for (n, A) in enumerate(AS)]])
        made, main, shadows = refs_of(value, A, width, n - 1)
        append!(p.made, made)
        append!(p.pointers, [main; shadows])
        push!(p.slots, Slot(length(shadows)))
        push!(p.types, RefValue{value_type(A)})
        n == 1 || push!(p.shadows, shadows)
    end
    p
end

plan_of(kind, p::Parts, width, mode, what) = Plan(kind, Tuple{typeof(primal),p.types...}, p.slots, width, flags_of(mode), what)

"The values behind the second `Ref`s of one place: one, or a tuple where there are several lanes."
lane_values(refs, width) = width == 1 ? :($(refs[1])[]) : Expr(:tuple, (:($r[]) for r in refs)...)

"A block in which the collector is off."
without_collector(body) = quote
    collecting = ccall(:jl_gc_enable, Cint, (Cint,), 0)
    try
        $body
    finally
        ccall(:jl_gc_enable, Cint, (Cint,), collecting)
    end
end

"The expression of a call: `Ref`s made, the thunk called, `back` evaluated. `told`: annotations of what the thunk may store references in."
call_expression(plan, p::Parts, back) = call_expression(plan, p.made, p.pointers, back, [:f, :(args...)])
function call_expression(plan, made, pointers, back, told)
    cached = Cached()
    addresses = Expr(:tuple, (:(pointer_from_objref($p)) for p in pointers)...)
    quote
        address = address!($(QuoteNode(cached)), $(QuoteNode(plan)))
        $(without_collector(quote
            $(made...)
            GC.@preserve $(pointers...) call(address, $addresses)
            $(QuoteNode(cached)).stores && tell_collector($(told...))
            return $back
        end))
    end
end

throwing(e) = :(throw($e))

@generated function reverse_call(mode::M, ::Type{RA}, ::Type{R0}, f::FA, args::Vararg{Annotation,N}) where {M<:ReverseMode,RA,R0,FA,N}
    try
        reverse_expression(M.instance, RA, R0, FA, args)
    catch e
        throwing(e)
    end
end

function reverse_expression(mode, RA, R0, FA, AS)
    R = result_type(R0)
    width = joint_width([FA, AS...])
    foreach(((n, A),) -> check_reverse(A, n), enumerate(AS))
    what = describe(mode, value_type(FA), map(value_type, AS))
    active = RA <: Active
    active && !(R <: AbstractFloat && isconcretetype(R)) && R !== Union{} &&
        refuse("$what: the result is Active, but its type is $(R0 === Any ? "not inferred" : R0), no float")
    RA <: Union{WithShadow,WithShadows} &&
        throw(ArgumentError("autodiff: in reverse mode a result is Active or Const; arrays that are returned need autodiff_thunk(ReverseSplitWithPrimal, ...)"))
    start = active ? :(make_ref($R, one($R))) : needs_primal(mode) ? :(make_ref($R)) : nothing
    p = parts_of(FA, AS, R, width, start)
    derivatives = Expr(:tuple, (A <: Active ? lane_values(s, width) : nothing for (A, s) in zip(AS, p.shadows))...)
    back = needs_primal(mode) ? :(($derivatives, result[])) : :(($derivatives,))
    call_expression(plan_of(:reverse, p, width, mode, what), p, back)
end

@generated function forward_call(mode::M, ::Type{RA}, ::Type{R0}, f::FA, args::Vararg{Annotation,N}) where {M<:ForwardMode,RA,R0,FA,N}
    try
        forward_expression(M.instance, RA, R0, FA, args)
    catch e
        throwing(e)
    end
end

function forward_expression(mode, RA, R0, FA, AS)
    R = result_type(R0)
    width = joint_width([FA, AS...])
    foreach(((n, A),) -> check_forward(A, n), enumerate(AS))
    what = describe(mode, value_type(FA), map(value_type, AS))
    RA <: Active && throw(ArgumentError("autodiff: an Active result is of reverse mode: in forward mode it is Duplicated or Const"))
    wants = !(RA <: Const)
    width > 1 && RA <: WithShadow && throw(ArgumentError("autodiff: the result of a batch is BatchDuplicated or Const"))
    p = parts_of(FA, AS, R, width, wants || needs_primal(mode) ? :(make_ref($R)) : nothing)
    names = ntuple(Symbol, width)
    tangent = width == 1 ? lane_values(p.lanes, 1) : :(NamedTuple{$names}($(lane_values(p.lanes, width))))
    back = [wants ? [tangent] : []; needs_primal(mode) ? [:(result[])] : []]
    call_expression(plan_of(:forward, p, width, mode, what), p, Expr(:tuple, back...))
end

@generated argument_types(::Vararg{Annotation,N}) where {N} = :(Tuple{})
@generated argument_types(args::Tuple) = Tuple{map(value_type, args.parameters)...}

@inline result_of(f::Annotation, args::Tuple) = Core.Compiler.return_type(f.val, argument_types(args))

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
    guess(M.instance, R, joint_width(collect(args.parameters)))
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
