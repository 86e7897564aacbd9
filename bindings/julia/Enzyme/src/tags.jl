# Arrays of values of one of several types (`Vector{Union{Float64,Missing}}`) where derivatives begin and end. The number of an element's type is a byte
# behind the elements; code that is differentiated asks the array for it, never its shadow, whose bytes there are worth nothing until the
# derivative ends. Then they are those of the array: as it is (forward mode), or as it was before (reverse).
#
# A shadow's element without float counts as zero where the array has one there. The engine counts the place of these bytes in the shadow as in the
# array, so both must have room for as many elements.
# Not handled: derivatives within derivatives, products with a Hessian (both are refused).

module TypeTags

import ..Annotation, ..WithShadow, ..WithShadows, ..MixedDuplicated, ..BatchMixedDuplicated, ..BatchDuplicatedFunc, ..Emit, ..Unions

"Which of an element's types have floats, by their numbers."
with_floats(@nospecialize(E)) = Bool[Unions.has_floats(T) for T in Base.uniontypes(E)]

tags_of(x::Array) = ccall(:jl_array_typetagdata, Ptr{UInt8}, (Any,), x)
header(x::Array, offset::Int, ::Type{T}) where {T} = Int(unsafe_load(Ptr{T}(pointer_from_objref(x) + offset)))

"Room for how many elements there is from the first one on, and how many were taken from before it."
room(x::Array) = ndims(x) == 1 ? (header(x, Emit.ARRAY.rows + 8, Int) - header(x, Emit.ARRAY.offset, UInt32), header(x, Emit.ARRAY.offset, UInt32)) : (length(x), 0)

"An array as `similar` gives, which lies in memory as `x` does."
function alike(x::Array)
    places, before = room(x)
    places == length(x) && before == 0 && return similar(x)
    out = similar(x, places + before)
    ccall(:jl_array_del_end, Cvoid, (Any, UInt), out, places - length(x))
    before > 0 && ccall(:jl_array_del_beg, Cvoid, (Any, UInt), out, before)
    check_room(x, out)
    out
end

has_room(x::Array, s::Array) = size(x) == size(s) && room(x) == room(s)
function check_room(x::Array, s::Array)
    has_room(x, s) || throw(ArgumentError("autodiff: a $(typeof(x)) of $(length(x)) elements has a shadow " *
        (size(x) == size(s) ? "with room for another number of elements, since one of them grew or shrank: take make_zero(x)" : "of $(length(s))")))
    nothing
end

"""
Lets the header of a shadow that was made in a derivative say what that of the vector says: where it grew, or shrank, the engine does not follow numbers in
the shadow's header. Its memory is as large as the vector's.
"""
function follow_header!(x::Array, s::Array)
    with_tags = Base.isbitsunion(eltype(s))
    (ndims(x) != 1 || (with_tags ? has_room(x, s) : length(x) == length(s))) && return
    p, e = pointer_from_objref(s), Int(Base.elsize(typeof(s)))
    places, before = room(x)
    owner = owner_of(s)
    wanted = (places + before) * (e + with_tags)
    if !(owner isa Array) || (owner === s ? 0 : sizeof(owner)) < wanted
        # Lengths that differ are the caller's.
        with_tags && error("Enzyme: internal: the shadow of a vector that grew has other memory")
        return
    end
    unsafe_store!(Ptr{Int}(p + Emit.ARRAY.length), length(x))
    unsafe_store!(Ptr{Int}(p + Emit.ARRAY.rows), length(x))
    unsafe_store!(Ptr{Int}(p + Emit.ARRAY.rows + 8), places + before)
    unsafe_store!(Ptr{UInt32}(p + Emit.ARRAY.offset), before)
    nothing
end

"What the memory of an array that was made in a derivative belongs to (runtime.ll); the array itself, of others."
function owner_of(s::Array)
    p = pointer_from_objref(s)
    how, data = unsafe_load(Ptr{UInt16}(p + Emit.ARRAY.flags)) & 3, unsafe_load(Ptr{Ptr{Cvoid}}(p))
    how == 3 && return unsafe_load(Ptr{Any}(p + Emit.array_header(ndims(s))))
    how == 0 && data - p >= 4096 % UInt && data != C_NULL || return s
    unsafe_load(Ptr{Any}(data - header(s, Emit.ARRAY.offset, UInt32) * Int(Base.elsize(typeof(s))) - 16))
end

"Gives a shadow types, and to its elements without floats what lies in `data`."
function follow!(s::Array, tags::Ptr{UInt8}, data::Ptr{UInt8})
    size, floats, own, to = Int(Base.elsize(typeof(s))), with_floats(eltype(s)), tags_of(s), Ptr{UInt8}(pointer(s))
    for n in 0:(length(s) - 1)
        tag = unsafe_load(tags, n + 1)
        unsafe_store!(own, tag, n + 1)
        floats[tag + 1] || unsafe_copyto!(to + n * size, data + n * size, size)
    end
end
follow!(x::Array, s::Array) = GC.@preserve x s follow!(s, tags_of(x), Ptr{UInt8}(pointer(x)))

"The types alone."
function take_tags!(x::Array, s::Array)
    GC.@preserve x s unsafe_copyto!(tags_of(s), tags_of(x), length(x))
    nothing
end

"What a shadow has where it has no float is zero; its types are forgotten if it is said so."
function clear!(s::Array, forget::Bool)
    size, floats = Int(Base.elsize(typeof(s))), with_floats(eltype(s))
    GC.@preserve s begin
        tags, data = tags_of(s), Ptr{UInt8}(pointer(s))
        for n in 0:(length(s) - 1)
            floats[unsafe_load(tags, n + 1) + 1] || ccall(:memset, Ptr{Cvoid}, (Ptr{Cvoid}, Cint, Csize_t), data + n * size, 0, size)
            forget && unsafe_store!(tags, 0x00, n + 1)
        end
    end
end

# ---- all arrays that annotations lead to ----

"What is passed over: it leads to no such array."
stays(@nospecialize(x)) = x isa Union{Number,AbstractString,Symbol,Type,Module,Core.MethodInstance,Method,Task} || isbits(x)

"Whether values of the type may lead to an array for which `is` says so."
may_lead(@nospecialize(T), is = Unions.is_array) = may_lead(T, is, Any[])
function may_lead(@nospecialize(T), @nospecialize(is), seen::Vector{Any})
    T isa Union && return may_lead(T.a, is, seen) || may_lead(T.b, is, seen)
    T isa DataType && isconcretetype(T) || return !(T <: Union{Number,AbstractString,Symbol,Type})
    (T <: AbstractString || T === Symbol || T === Module || isbitstype(T) || any(S -> S === T, seen)) && return false
    is(T)::Bool && return true
    push!(seen, T)
    T <: Array ? may_lead(eltype(T), is, seen) : any(F -> may_lead(F, is, seen), fieldtypes(T))
end

const Pairs = Vector{Tuple{Array,Array}}

function pairs!(out::Pairs, @nospecialize(x), @nospecialize(s), seen::IdDict{Any,Any}, @nospecialize(is) = Unions.is_array)
    (x === s || stays(x) || typeof(x) !== typeof(s) || haskey(seen, s)) && return out
    # Of types it is asked once.
    get!(() -> may_lead(typeof(x), is), seen, typeof(x)) || return out
    (x isa Array || Emit.is_mutable(typeof(x))) && (seen[s] = true)
    if x isa Array
        is(typeof(x))::Bool && push!(out, (x, s))
        if !isbitstype(eltype(x)) && !Base.isbitsunion(eltype(x))
            for n in 1:min(length(x), length(s))
                isassigned(x, n) && isassigned(s, n) && pairs!(out, x[n], s[n], seen, is)
            end
        end
    else
        for n in 1:fieldcount(typeof(x))
            isdefined(x, n) && isdefined(s, n) && pairs!(out, getfield(x, n), getfield(s, n), seen, is)
        end
    end
    out
end
pairs_between(@nospecialize(x), @nospecialize(s), @nospecialize(is)) = pairs!(Pairs(), x, s, IdDict{Any,Any}(), is)

shadows(@nospecialize(a)) = a isa WithShadow ? Any[a.dval] : a isa WithShadows ? Any[a.dval...] : a isa MixedDuplicated ? Any[a.dval[]] :
    a isa BatchMixedDuplicated ? Any[r[] for r in a.dval] : Any[]

"All such arrays that annotations lead to, each with a shadow; none where it is constant."
function pairs_of(@nospecialize(annotations), @nospecialize(is) = Unions.is_array)
    out, seen = Pairs(), IdDict{Any,Any}()
    for a in annotations
        is === Unions.is_array && a isa BatchDuplicatedFunc && may_lead(typeof(a.val)) &&
            throw(ArgumentError("autodiff: BatchDuplicatedFunc of what may lead to an array of values of one of several types: give the shadows themselves, BatchDuplicated"))
        for s in shadows(a)
            pairs!(out, a.val, s, seen, is)
        end
    end
    out
end

# ---- where a derivative begins and ends ----

"Shadows that a sweep in reverse mode goes back on, and what the arrays were before the function ran: types, and elements without floats."
const Before = Vector{Tuple{Array,Vector{UInt8},Vector{UInt8}}}

"Before a derivative in forward mode."
function enter_forward(@nospecialize(annotations))
    for (x, s) in pairs_of(annotations)
        check_room(x, s)
        clear!(s, false)
    end
end

"After it."
leave_forward(@nospecialize(annotations)) = foreach(((x, s),) -> leave_forward(x, s), pairs_of(annotations))
"After an exception."
restore(annotations::Tuple) = foreach(((x, s),) -> has_room(x, s) && follow!(x, s), pairs_of(annotations))
leave_forward(x::Array, s::Array) = (follow_header!(x, s); check_room(x, s); follow!(x, s))

"What arrays are before the function runs in reverse mode."
function before(@nospecialize(annotations))
    out = Before()
    for (x, s) in pairs_of(annotations)
        check_room(x, s)
        GC.@preserve x push!(out, (s, bytes(tags_of(x), length(x)), bytes(Ptr{UInt8}(pointer(x)), length(x) * Int(Base.elsize(typeof(x))))))
    end
    out
end
bytes(p::Ptr{UInt8}, n::Int) = (out = Vector{UInt8}(undef, n); GC.@preserve out unsafe_copyto!(pointer(out), p, n); out)

"Before the sweep back."
enter_reverse(known::Before) = foreach(entry -> clear!(entry[1], true), known)

"After it, or an exception."
restore(known::Before) = foreach(((s, tags, data),) -> GC.@preserve(tags, data, follow!(s, pointer(tags), pointer(data))), known)

"After it: what came to be reached meanwhile is as the array is."
function leave_reverse(known::Before, @nospecialize(annotations))
    restore(known)
    seen = IdDict{Any,Any}(s => true for (s, _, _) in known)
    for (x, s) in pairs_of(annotations)
        haskey(seen, s) || (follow_header!(x, s); take_tags!(x, s))
    end
end

"The tangent, or shadow, of a result is as long as the result, and of its types."
function follow_result!(@nospecialize(x), @nospecialize(s))
    for (y, t) in pairs_between(x, s, is_vector)
        follow_header!(y, t)
        Base.isbitsunion(eltype(y)) && leave_forward(y, t)
    end
end
is_vector(@nospecialize(T)) = T <: Array && (ndims(T) == 1 || Unions.is_array(T))

"Vectors that annotations lead to by now have shadows as long as they are."
follow_headers!(@nospecialize(annotations)) = foreach(((x, s),) -> Base.isbitsunion(eltype(x)) || follow_header!(x, s), pairs_of(annotations, is_vector))

end
