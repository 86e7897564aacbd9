# Copies of objects with all that they lead to, and keywords from dictionaries (part of `Models`): Base keeps what it has seen in a table of the run-time
# system, and asks at run time what each field is. Here the code is made for the type, and what was seen is a number that has no derivative.
#
# Not handled: types with a `deepcopy_internal` of their own, functions with data, `IdDict`, and keys of dictionaries that are objects.

"What was copied: the numbers of objects, and their copies, a list for each type and one for types that only the run knows."
struct Seen{L<:Tuple}
    numbers::Dict{UInt,Int}
    lists::L
end
"The number of an object that was met before; else zero, and it comes after `count` others."
@noinline function number!(numbers::Dict{UInt,Int}, x::T, count::Int) where {T}
    id = objectid(x)
    n = Base.get(numbers, id, 0)
    n == 0 && (numbers[id] = count + 1)
    n
end

@generated deep(x::T) where {T} = isbitstype(T) ? :x : is_alone(T) ? :(copied(x, nothing)::T) :
    :(copied(x, Seen(Dict{UInt,Int}(), ($((:($S[]) for S in objects_of!(Any[], T))...), Any[])))::T)

"The types of objects that others may lead to, in what a value of the type leads to."
function objects_of!(out::Vector{Any}, @nospecialize(T))
    (!isconcretetype(T) || stays(T) || T in out) && return out
    (T <: Array || T.mutable) && push!(out, T)
    foreach(S -> objects_of!(out, S), T <: Array ? Any[eltype(T)] : T <: Dict ? Any[valtype(T)] : fieldtypes(T))
    out
end

stays(@nospecialize(T)) = isbitstype(T) || T <: Union{Symbol,String,Type,Core.MethodInstance,Method,GlobalRef,Task,Regex} || isconcretetype(T) && !(T <: Array) && !T.mutable && fieldcount(T) == 0

"Whether objects of the type lead to one that others lead to, too."
is_alone(@nospecialize(T)) = T <: Array ? isbitstype(eltype(T)) : isconcretetype(T) && T.mutable && all(isbitstype, fieldtypes(T))

"Makes a copy, and of what was copied before the copy of that."
@generated function copied(x::T, seen) where {T}
    stays(T) && return :x
    own = which(Base.deepcopy_internal, Tuple{T,IdDict{Any,Any}})
    own.module === Base && !(T <: Union{Module,Core.SimpleVector,IdDict}) && !(T <: Dict && !stays(keytype(T))) ||
        return :(throw(ArgumentError($("Enzyme: deepcopy of a $T is not handled in a function that is differentiated"))))
    T <: Array || T.mutable || return Expr(:new, T, (field(T, n) for n in 1:fieldcount(T))...)
    if T <: Array
        body = :(y = similar(x); met!(seen, y); copy_elements!(y, x, seen))
    elseif T <: Dict
        body = :(y = copy(x); met!(seen, y); $(stays(valtype(T)) ? nothing : :(copy_values!(y, seen))))
    else
        stores = [:(isdefined(x, $n) && setfield!(y, $n, $(field(T, n)))) for n in 1:fieldcount(T)]
        body = :(y = $(Expr(:new, T)); met!(seen, y); $(stores...))
    end
    seen <: Nothing && return :($body; y)
    quote
        list = $(list_of(seen, T))
        n = number!(seen.numbers, x, length(list))
        n == 0 || return list[n]::T
        $body
        y
    end
end
field(@nospecialize(T), n::Int) = stays(fieldtype(T, n)) ? :(getfield(x, $n)) : :(copied(getfield(x, $n), seen)::$(fieldtype(T, n)))

list_of(@nospecialize(S), @nospecialize(T)) = (k = findfirst(isequal(Vector{T}), fieldtypes(S.parameters[1])); :(seen.lists[$(k === nothing ? fieldcount(S.parameters[1]) : k)]))

met!(::Nothing, y) = nothing
@generated met!(seen::Seen, y) = :(push!($(list_of(seen, y)), y); nothing)

@generated function copy_elements!(y::Array{T}, x::Array{T}, seen) where {T}
    stays(T) && isbitstype(T) && return :(for n in 1:length(x); y[n] = x[n]; end)
    :(for n in 1:length(x)
        isassigned(x, n) && (y[n] = $(stays(T) ? :(x[n]) : :(copied(x[n], seen)::T)))
    end)
end

function copy_values!(y::Dict{K,V}, seen) where {K,V}
    for n in 1:length(y.slots)
        Base.isslotfilled(y, n) && (y.vals[n] = copied(y.vals[n], seen)::V)
    end
end

"As Base's `merge`, of what `f(; pairs...)` is given."
function merged(a::NamedTuple, pairs)
    names, values = Symbol[], Any[]
    for (name::Symbol, value) in pairs
        n = place_of(names, name)
        n > 0 ? (values[n] = value) : (push!(names, name); push!(values, value))
    end
    merge(a, NamedTuple{(names...,)}((values...,)))
end
function place_of(names::Vector{Symbol}, name::Symbol)
    for n in 1:length(names)
        names[n] === name && return n
    end
    0
end
