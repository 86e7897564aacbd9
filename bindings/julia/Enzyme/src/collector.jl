# Calls of thunks, and the garbage collector, which runs while they do. What a derivative makes it roots itself, in a list of the call's (runtime.ll);
# what is rooted here besides is what it may take out of its arguments and go on using.

"Calls a thunk with the addresses of `Ref`s; `annotations` are the arguments."
@inline function call(cached::Cached, kind::Symbol, address::Ptr{Cvoid}, slots::NTuple{N,Ptr{Cvoid}}, roots::Vector{Any}, annotations) where {N}
    needs = cached.needs
    if needs.unions
        seldom(tagged_call, () -> bare_call(address, slots, roots), cached, kind, roots, annotations)
    elseif needs.roots || needs.stores
        seldom(guarded_call, () -> bare_call(address, slots, roots), cached, roots, annotations)
    else
        bare_call(address, slots, roots)
    end
    nothing
end

"""
What a call of `autodiff` comes to: `refs` are all `Ref`s, in the order of the thunk's slots. A function of its own, since in a module that is itself
differentiated a marker takes its place (nested.jl).
"""
@noinline function perform(cached::Cached, plan::Plan, roots::Vector{Any}, annotations::A, refs::Vararg{RefValue,N}) where {A,N}
    address = address!(cached, plan)
    GC.@preserve refs call(cached, plan.kind, address, map(pointer_from_objref, refs), roots, annotations)
    nothing
end

@inline bare_call(address::Ptr{Cvoid}, slots::NTuple{N,Ptr{Cvoid}}, roots::Vector{Any}) where {N} =
    ccall(address, Cvoid, (Ref{NTuple{N,Ptr{Cvoid}}}, Any), slots, roots)

@noinline function guarded_call(@nospecialize(sweep), cached::Cached, roots::Vector{Any}, @nospecialize(annotations))
    needs = cached.needs
    held = needs.stores ? seldom(all_objects, annotations)::Vector{Any} : roots
    collecting = needs.all ? ccall(:jl_gc_is_enabled, Cint, ()) : ccall(:jl_gc_enable, Cint, (Cint,), 0)
    GC.@preserve held try
        sweep()
    finally
        ccall(cached.seal, Cvoid, (Any,), roots)
        # What a function stores in an object the engine stores in its shadow, of which the collector is not told: old objects must be looked at
        # again, or what is new in them goes.
        needs.calls && seldom(mend_all!, annotations, roots)
        needs.stores && seldom(foreach, look_again, seldom(all_objects, annotations))
        needs.stores && seldom(TypeTags.follow_headers!, annotations)
        # A call that is dispatched at run time may have turned it off.
        needs.all && !needs.calls || ccall(:jl_gc_enable, Cint, (Cint,), collecting)
    end
end

"As `guarded_call`, where there are arrays of values of one of several types."
@noinline function tagged_call(@nospecialize(sweep), cached::Cached, kind::Symbol, roots::Vector{Any}, @nospecialize(annotations))
    kind === :forward || kind === :reverse || return guarded_call(sweep, cached, roots, annotations)
    kind === :reverse && return reversed(guarded_call, TypeTags.before(annotations), annotations, sweep, cached, roots, annotations)
    TypeTags.enter_forward(annotations)
    try
        guarded_call(sweep, cached, roots, annotations)
    catch
        TypeTags.restore(annotations)
        rethrow()
    end
    TypeTags.leave_forward(annotations)
end

"A sweep back, of `given`: `before` says what arrays of values of one of several types were."
@noinline function reversed(@nospecialize(sweep), @nospecialize(before), @nospecialize(annotations), @nospecialize(given...))
    before === nothing && return sweep(given...)
    TypeTags.enter_reverse(before)
    try
        sweep(given...)
    catch
        TypeTags.restore(before)
        rethrow()
    end
    TypeTags.leave_reverse(before, annotations)
end

"Gives all that arguments lead to shadows of their own."
function mend_all!(@nospecialize(annotations), roots)
    for a in annotations
        a isa WithShadow && !isbits(a.val) && Dynamic.mend_object!(a.val, a.dval, roots)
    end
end

"All objects that annotations lead to."
function all_objects(@nospecialize(annotations))
    out, seen = Any[], IdDict()
    for a in annotations
        a isa Union{Const,Active} || objects!(out, a.dval, seen)
        objects!(out, a.val, seen)
    end
    out
end

objects!(out, x::Union{AbstractFloat,Integer,AbstractString,Symbol,Nothing,Type,Module}, seen) = nothing
function objects!(out, x::T, seen) where {T}
    (isbitstype(T) || haskey(seen, x)) && return
    push!(out, x)
    T <: Array && isbitstype(eltype(T)) && return
    if ismutabletype(T)
        seen[x] = true
    end
    if x isa Array
        for n in eachindex(x)
            isassigned(x, n) && objects!(out, x[n], seen)
        end
    else
        for n in 1:fieldcount(T)
            isdefined(x, n) && objects!(out, getfield(x, n), seen)
        end
    end
end

function look_again(@nospecialize(x))
    ismutabletype(typeof(x)) || return
    header = unsafe_load(Ptr{UInt}(pointer_from_objref(x)) - sizeof(UInt))
    header & 3 == 3 && ccall(:jl_gc_queue_root, Cvoid, (Any,), x)
    nothing
end
