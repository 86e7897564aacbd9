# Reverse mode in two calls: `autodiff_thunk` gives a function that runs the program and keeps a tape, and one that goes back on it.
#
# The tape holds the `Ref`s of the call, whose addresses both sweeps use, memory of the engine's, and the list that roots what the first sweep has made.
# An array of references gets other memory when a sweep ends (runtime.ll), so the second would not see what is put into the
# shadow of one: functions that return such arrays are refused.

"What lies between the two sweeps: it can be gone back on once."
mutable struct Tape{R}
    engine::Ptr{Cvoid}
    refs::R
    roots::Vector{Any}
    cached::Cached
    before::Any # what arrays of values of one of several types were (tags.jl)
    used::Bool
end

struct ForwardSweep{M,FA,RA,AS} end
struct ReverseSweep{M,FA,RA,AS} end

"""
    forward, reverse = autodiff_thunk(ReverseSplitWithPrimal, Const{typeof(f)}, Active, Duplicated{Vector{Float64}}, ...)
    tape, value, shadow = forward(Const(f), Duplicated(x, dx), ...)
    derivatives = reverse(Const(f), Duplicated(x, dx), ..., 1.0, tape)[1]      # the adjoint of the result, if it is Active

    tangents = autodiff_thunk(Forward, Const{typeof(f)}, Duplicated, Duplicated{Float64})
    tangents(Const(f), Duplicated(1.0, 1.0))
"""
autodiff_thunk(mode::ReverseModeSplit, ::Type{FA}, ::Type{RA}, arguments::Vararg{Type{<:Annotation},N}) where {FA<:Annotation,RA<:Annotation,N} =
    (ForwardSweep{typeof(mode),FA,RA,Tuple{arguments...}}(), ReverseSweep{typeof(mode),FA,RA,Tuple{arguments...}}())

"As `autodiff_thunk`."
autodiff_deferred_thunk(arguments...) = autodiff_thunk(arguments...)

"""
    tape_type(ReverseSplitWithPrimal, Const{typeof(f)}, Active, Duplicated{Vector{Float64}}, ...)

The type of the tape that the first sweep gives.
"""
function tape_type(mode::ReverseModeSplit, ::Type{FA}, ::Type{RA}, arguments::Vararg{Type{<:Annotation},N}) where {FA<:Annotation,RA<:Annotation,N}
    f, AS = value_type(FA), Any[arguments...]
    R = result_type(Core.Compiler.return_type(Base.issingletontype(f) ? f.instance : throw(ArgumentError("tape_type: $f has data of its own")), Tuple{map(value_type, arguments)...}))
    width = joint_width(Any[FA, AS...])
    refs = Any[RefValue{R} for _ in 0:width]
    for A in Any[FA, AS...], _ in 0:(A <: Const ? 0 : width)
        push!(refs, RefValue{value_type(A)})
    end
    Tape{Tuple{refs...}}
end

struct TangentThunk{M,FA,RA,AS} end
autodiff_thunk(mode::ForwardMode, ::Type{FA}, ::Type{RA}, arguments::Vararg{Type{<:Annotation},N}) where {FA<:Annotation,RA<:Annotation,N} =
    TangentThunk{typeof(mode),FA,RA,Tuple{arguments...}}()

function check_arguments(FA, AS, f, args)
    (typeof(f) <: FA && length(args) == fieldcount(AS) && all(typeof(a) <: A for (a, A) in zip(args, AS.parameters))) ||
        throw(ArgumentError("this thunk takes $FA, $(join(AS.parameters, ", ")), not $(typeof(f)), $(join(map(typeof, args), ", "))"))
end

function (::TangentThunk{M,FA,RA,AS})(f, args...) where {M,FA,RA,AS}
    check_arguments(FA, AS, f, args)
    autodiff(M.instance, f, RA, args...)
end

function (::ForwardSweep{M,FA,RA,AS})(f, args...) where {M,FA,RA,AS}
    check_arguments(FA, AS, f, args)
    sweep(M.instance, RA, result_of(f, args), f, args...)
end

@generated function sweep(mode::M, ::Type{RA}, ::Type{R0}, f::FA, args::Vararg{Annotation,N}) where {M<:ReverseModeSplit,RA,R0,FA,N}
    try
        sweep_expression(M.instance, RA, R0, FA, Any[args...])
    catch e
        throwing(e)
    end
end

"Whether a value of the type holds, or leads to, an array of references."
function has_references(T, seen = Set{Any}())
    (T in seen || isbitstype(T) || T <: Union{AbstractString,Symbol,Type}) && return false
    push!(seen, T)
    T <: Array && return !isbitstype(eltype(T)) && !Base.isbitsunion(eltype(T))
    !isconcretetype(T) || any(F -> has_references(F, seen), fieldtypes(T))
end

function sweep_expression(mode, RA, R0, FA, AS)
    R = RA <: Active ? active_type(R0) : result_type(R0)
    width = joint_width(Any[FA, AS...])
    foreach(((n, A),) -> check_reverse(A, n), enumerate(AS))
    what = Asked("autodiff_thunk", mode, FA, AS)
    RA <: Active && !(R <: AbstractFloat && isconcretetype(R)) && refuse("$(words(what)): the result is Active, but its type is $R0, no float")
    RA <: Union{WithShadow,WithShadows} && has_references(R) &&
        refuse("$(words(what)): the result, a $R, holds arrays of references: return what these lead to in a tuple, or write it into an argument")
    p = parts_of(FA, AS, R, width, :(make_ref($R)))
    plan = plan_of(:split, p, width, mode, what)
    has_shadow = RA <: Union{WithShadow,WithShadows}
    shadow = has_shadow ? lane_values(p.lanes, width) : nothing
    follow = has_shadow && TypeTags.may_lead(R, TypeTags.is_vector) ? [:(seldom(TypeTags.follow_result!, result[], $l[])) for l in p.lanes] : Expr[]
    has_shadow && Others.has_others(R) && append!(follow, [:(seldom(Others.follow!, result, $l)) for l in p.lanes])
    cached = Cached()
    quote
        address = address!($(QuoteNode(cached)), $(QuoteNode(plan)))
        $(p.made...)
        roots = Any[]
        refs = ($(p.pointers...),)
        slots = map(pointer_from_objref, refs)
        GC.@preserve refs roots begin
            before = $(QuoteNode(cached)).needs.unions ? seldom(TypeTags.before, (f, args...)) : nothing
            tape = go_forward($(QuoteNode(cached)), address, slots, roots, (f, args...))
            $(follow...)
            return Tape(tape, refs, roots, $(QuoteNode(cached)), before, false), $(needs_primal(mode) ? :(result[]) : nothing), $shadow
        end
    end
end

go_forward(cached::Cached, address, slots::S, roots, annotations) where {S} =
    guarded_call(() -> ccall(address, Ptr{Cvoid}, (Ref{S}, Any), slots, roots), cached, roots, annotations)::Ptr{Cvoid}
go_back!(tape::Tape, slots::S, annotations) where {S} =
    guarded_call(() -> ccall(tape.cached.back, Cvoid, (Ref{S}, Any, Ptr{Cvoid}), slots, tape.roots, tape.engine), tape.cached, tape.roots, annotations)

function (::ReverseSweep{M,FA,RA,AS})(f, args...) where {M,FA,RA,AS}
    count = fieldcount(AS)
    wanted = count + 1 + (RA <: Active)
    length(args) == wanted || throw(ArgumentError("the reverse sweep takes the arguments, " * (RA <: Active ? "the adjoint of the result, " : "") * "and the tape"))
    check_arguments(FA, AS, f, args[1:count])
    go_back(RA, FA, args[wanted], RA <: Active ? args[count + 1] : nothing, args[1:count]...)
end

@generated function go_back(::Type{RA}, ::Type{FA}, tape::Tape, adjoint, args::Vararg{Annotation,N}) where {RA,FA,N}
    width = joint_width(Any[FA, args...])
    # Behind the result, its adjoints and the function.
    back, at = Any[], 2 + width + 1 + (FA <: Const ? 0 : width)
    for A in args
        shadows = A <: Const ? 0 : width
        push!(back, A <: Active ? lane_values(Any[:(tape.refs[$(at + lane)]) for lane in 1:width], width) : nothing)
        at += 1 + shadows
    end
    seed = RA <: Active ? [:(tape.refs[$(1 + lane)][] = $(width == 1 ? :adjoint : :(adjoint[$lane]))) for lane in 1:width] : Expr[]
    quote
        tape.used && throw(ArgumentError("the tape was gone back on already"))
        $(seed...)
        refs = tape.refs
        slots = map(pointer_from_objref, refs)
        GC.@preserve tape refs begin
            reversed(go_back!, tape.before, args, tape, slots, args)
            tape.used = true
            return ($(Expr(:tuple, back...)),)
        end
    end
end
