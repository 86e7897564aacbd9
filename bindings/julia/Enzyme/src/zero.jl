# Values with other floats. A shadow is a copy in which every float is zero; what has no float is shared in it, and what is shared within
# the value is shared within the copy, cycles included.

"Makes shadows: what has no float is not copied."
struct Zero end
(::Zero)(x) = zero(x)
copies_all(g) = true
copies_all(::Zero) = false

"A copy of `x` in which each float is what `g` makes of it; memory that is shared stays shared."
map_floats(g, x, seen::IdDict = IdDict()) = map_floats_of(g, x, seen)

map_floats_of(g, x::AbstractFloat, seen) = oftype(x, g(x))
map_floats_of(g, x::Complex{T}, seen) where {T<:AbstractFloat} = (re = oftype(x.re, g(x.re)); Complex{T}(re, oftype(x.im, g(x.im))))
map_floats_of(g, x::Union{Integer,AbstractString,Symbol,AbstractChar,Nothing,Missing,Module,Type}, seen) = x

function map_floats_of(g, x::A, seen) where {A<:Array}
    (copies_all(g) || may_differentiate(A)) || return x
    haskey(seen, x) && return seen[x]::A
    g isa Zero && eltype(A) <: AbstractFloat && isbitstype(eltype(A)) && return (seen[x] = zero(x))
    out = Base.isbitsunion(eltype(A)) ? TypeTags.alike(x) : similar(x)
    seen[x] = out
    for n in eachindex(x)
        isassigned(x, n) && (out[n] = map_floats_of(g, x[n], seen))
    end
    out
end

function map_floats_of(g, x::T, seen) where {T}
    (may_differentiate(T) && fieldcount(T) > 0) || return x
    if ismutabletype(T)
        haskey(seen, x) && return seen[x]::T
        out = ccall(:jl_new_struct_uninit, Any, (Any,), T)::T
        seen[x] = out
        for n in 1:fieldcount(T)
            isdefined(x, n) && ccall(:jl_set_nth_field, Cvoid, (Any, Csize_t, Any), out, n - 1, map_floats_of(g, getfield(x, n), seen))
        end
        return out
    end
    fields = Any[map_floats_of(g, getfield(x, n), seen) for n in 1:fieldcount(T) if isdefined(x, n)]
    ccall(:jl_new_structv, Any, (Any, Ptr{Any}, UInt32), T, fields, length(fields))::T
end

"""
    make_zero(x)

A value of the shape of `x` in which all floats are zero: a shadow for `Duplicated`. What holds no float (strings, integers, functions) is that of `x`.
"""
make_zero(x::T) where {T} = isbitstype(T) ? map_floats_of(Zero(), x, nothing) : map_floats(Zero(), x)
# Functions that are differentiated make shadows of these, too.
make_zero(x::Union{AbstractFloat,Complex{<:AbstractFloat}}) = zero(x)
make_zero(x::Array{<:Union{Float64,Float32,ComplexF64,ComplexF32}}) = isbitstype(eltype(x)) ? zero(x) : map_floats(Zero(), x)
make_zero(::Type{T}, seen::IdDict, x::T) where {T} = map_floats(Zero(), x, seen)::T

"""
    make_zero!(x)

Sets all floats in the memory of `x` to zero.
"""
make_zero!(x) = (clear_memory!(x, IdDict()); nothing)

"""
    remake_zero!(x)

As `make_zero!`, for shadows that `make_zero` gave.
"""
remake_zero!(x) = make_zero!(x)

function clear_memory!(x::Array{T}, seen) where {T}
    (haskey(seen, x) || !may_differentiate(typeof(x))) && return
    seen[x] = true
    T <: AbstractFloat && isbitstype(T) && return fill!(x, zero(T))
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
