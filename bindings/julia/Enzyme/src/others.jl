# What a tangent, or the shadow of a result, has beside floats: integers, and all else that is a value without derivative, are those of the result.
# Derivatives store no such values in shadows.
#
# By addresses, since numbers may lie in objects that nothing may be stored in otherwise. Elements of arrays of values of one of several types are left to
# tags.jl, pointers as they are.

module Others

object(p::Ptr{Cvoid}) = unsafe_pointer_to_objref(p)
"What is left as it is, whichever object of its kind a tangent has."
const Kept = Union{AbstractString,Symbol,Type,Module,Core.MethodInstance,Method,Task}

"Whether a value of the type has something in itself that is no float and has no derivative: of what has not, a tangent is complete as it is."
function has_others(@nospecialize(T))
    T isa DataType || return true
    T <: Union{AbstractFloat,Ptr} && return false
    T <: Array && return isbitstype(eltype(T)) ? has_others(eltype(T)) : true
    isbitstype(T) || return true
    fieldcount(T) == 0 ? sizeof(T) > 0 : any(has_others, fieldtypes(T))
end

"Takes over what is no float, from a result to its tangent and from all that it leads to."
function follow!(result::Base.RefValue{T}, lane::Base.RefValue{T}) where {T}
    seen = Set{Ptr{Cvoid}}()
    GC.@preserve result lane begin
        p, s = pointer_from_objref(result), pointer_from_objref(lane)
        isconcretetype(T) && Base.allocatedinline(T) ? value!(T, p, s, seen) : reference!(p, s, seen)
    end
    nothing
end

function reference!(p::Ptr{Cvoid}, s::Ptr{Cvoid}, seen::Set{Ptr{Cvoid}})
    x, t = unsafe_load(Ptr{Ptr{Cvoid}}(p)), unsafe_load(Ptr{Ptr{Cvoid}}(s))
    x == C_NULL || t == C_NULL || x == t || object!(x, t, seen)
    nothing
end

function object!(p::Ptr{Cvoid}, s::Ptr{Cvoid}, seen::Set{Ptr{Cvoid}})
    T = typeof(object(p))
    (typeof(object(s)) !== T || T <: Kept || s in seen) && return
    push!(seen, s)
    T <: Array ? array!(T, p, s, seen) : value!(T, p, s, seen)
end

function array!(@nospecialize(T), p::Ptr{Cvoid}, s::Ptr{Cvoid}, seen::Set{Ptr{Cvoid}})
    E = eltype(T)
    n = length(object(p))
    (length(object(s)) != n || Base.isbitsunion(E) || E <: AbstractFloat && isbitstype(E)) && return
    data, shadow = unsafe_load(Ptr{Ptr{Cvoid}}(p)), unsafe_load(Ptr{Ptr{Cvoid}}(s))
    for k in 0:(n - 1)
        at = k * Int(Base.elsize(T))
        Base.allocatedinline(E) ? value!(E, data + at, shadow + at, seen) : reference!(data + at, shadow + at, seen)
    end
end

function value!(@nospecialize(T), p::Ptr{Cvoid}, s::Ptr{Cvoid}, seen::Set{Ptr{Cvoid}})
    T <: Union{AbstractFloat,Ptr} && return
    if isbitstype(T) && fieldcount(T) == 0
        return copy!(p, s, sizeof(T))
    end
    for n in 1:fieldcount(T)
        F, at = fieldtype(T, n), Int(fieldoffset(T, n))
        if Base.isbitsunion(F)
            one_of!(F, p + at, s + at, seen)
        elseif !(F isa DataType) || !Base.allocatedinline(F)
            reference!(p + at, s + at, seen)
        else
            value!(F, p + at, s + at, seen)
        end
    end
end

"A value of one of several types, with the number of its type behind it."
function one_of!(@nospecialize(F), p::Ptr{Cvoid}, s::Ptr{Cvoid}, seen::Set{Ptr{Cvoid}})
    types = Base.uniontypes(F)
    size = maximum(sizeof, types)
    copy!(p + size, s + size, 1)
    value!(types[unsafe_load(Ptr{UInt8}(p + size)) + 1], p, s, seen)
end

copy!(p::Ptr{Cvoid}, s::Ptr{Cvoid}, n::Int) = (unsafe_copyto!(Ptr{UInt8}(s), Ptr{UInt8}(p), n); nothing)

end
