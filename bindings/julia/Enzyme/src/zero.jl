# Shadows: copies of a value in which every float is zero. What has no float is shared; what is shared within the value is
# shared within the shadow, cycles included.

"""
    make_zero(x)

A value of the shape of `x` in which all floats are zero: a shadow for `Duplicated`. What holds no float (strings, integers, functions) is that of `x`.
"""
make_zero(x) = make_zero(typeof(x), IdDict(), x)

make_zero(::Type{T}, seen::IdDict, x::T) where {T<:AbstractFloat} = zero(T)
make_zero(::Type{Complex{T}}, seen::IdDict, x::Complex{T}) where {T<:AbstractFloat} = zero(Complex{T})
make_zero(::Type{T}, seen::IdDict, x::T) where {T<:Union{Integer,AbstractString,Symbol,AbstractChar,Nothing,Missing,Module,Type}} = x

function make_zero(::Type{A}, seen::IdDict, x::A) where {A<:Array}
    haskey(seen, x) && return seen[x]::A
    may_differentiate(A) || return x
    T = eltype(A)
    if isbitstype(T)
        out = similar(x)
        seen[x] = out
        for n in eachindex(x)
            out[n] = make_zero(T, seen, x[n])
        end
        return out
    end
    out = similar(x)
    seen[x] = out
    for n in eachindex(x)
        isassigned(x, n) && (out[n] = make_zero(typeof(x[n]), seen, x[n]))
    end
    out
end

function make_zero(::Type{T}, seen::IdDict, x::T) where {T}
    (may_differentiate(T) && fieldcount(T) > 0) || return x
    if ismutabletype(T)
        haskey(seen, x) && return seen[x]::T
        out = ccall(:jl_new_struct_uninit, Any, (Any,), T)::T
        seen[x] = out
        for n in 1:fieldcount(T)
            isdefined(x, n) && ccall(:jl_set_nth_field, Cvoid, (Any, Csize_t, Any), out, n - 1, zero_field(seen, getfield(x, n)))
        end
        return out
    end
    fields = Any[zero_field(seen, getfield(x, n)) for n in 1:fieldcount(T) if isdefined(x, n)]
    ccall(:jl_new_structv, Any, (Any, Ptr{Any}, UInt32), T, fields, length(fields))::T
end

zero_field(seen, v) = make_zero(typeof(v), seen, v)

"""
    make_zero!(x)

Sets all floats in the memory of `x` to zero.
"""
make_zero!(x) = (clear_memory!(x, IdDict()); nothing)

function clear_memory!(x::Array{T}, seen) where {T}
    (haskey(seen, x) || !may_differentiate(typeof(x))) && return
    seen[x] = true
    for n in eachindex(x)
        isassigned(x, n) || continue
        has_inline_floats(typeof(x[n])) ? (x[n] = cleared(x[n], seen)) : clear_memory!(x[n], seen)
    end
end

function clear_memory!(x::T, seen) where {T}
    (!may_differentiate(T) || fieldcount(T) == 0) && return
    if ismutabletype(T)
        haskey(seen, x) && return
        seen[x] = true
        for n in 1:fieldcount(T)
            isdefined(x, n) || continue
            v = getfield(x, n)
            has_inline_floats(typeof(v)) ? ccall(:jl_set_nth_field, Cvoid, (Any, Csize_t, Any), x, n - 1, cleared(v, seen)) : clear_memory!(v, seen)
        end
    else
        for n in 1:fieldcount(T)
            isdefined(x, n) && clear_memory!(getfield(x, n), seen)
        end
    end
end
clear_memory!(x::Union{AbstractFloat,Integer,AbstractString,Symbol,Nothing,Type,Module}, seen) = nothing

"A value whose floats are zero and whose memory was cleared."
function cleared(x, seen)
    x isa AbstractFloat && return zero(x)
    T = typeof(x)
    fieldcount(T) == 0 && return x
    fields = map(1:fieldcount(T)) do n
        v = getfield(x, n)
        has_inline_floats(typeof(v)) ? cleared(v, seen) : (clear_memory!(v, seen); v)
    end
    fields = Any[fields...]
    ccall(:jl_new_structv, Any, (Any, Ptr{Any}, UInt32), T, fields, length(fields))::T
end
