# Functions of Base and LinearAlgebra that Julia compiles for arguments of any type, so that they call what they do at run time: `[x; a]`, `[a b; c d]`,
# `repeat`, `maximum(A; dims)`, the parts of QR. Here they are once more, for dense arrays, each compiled for the types that it is given; what they compute is
# the same.
#
# The methods are added to Base's when a derivative first needs one (`add_methods!`); Julia compiles anew what called the others.
# Not handled: `cat` along several dimensions at once, or more than three.

module Unrolled

using LinearAlgebra
using LinearAlgebra: QRCompactWY, QRCompactWYQ, QRPackedQ, QRPivoted
import ..Emit, ..seldom

const Floats = Union{Float64,Float32}
const Dense = Union{StridedVecOrMat,Adjoint{<:Any,<:StridedVecOrMat},Transpose{<:Any,<:StridedVecOrMat}}

"Stores an array, or a number all over, in a part of another array."
@inline function put!(A::Array{T,N}, before::NTuple{N,Int}, sizes::NTuple{N,Int}, x) where {T,N}
    n = 0
    for at in CartesianIndices(sizes)
        n += 1
        A[(at.I .+ before)...] = x isa AbstractArray ? x[n] : x
    end
end

@inline is_along(directions::Tuple, i::Int) = i <= length(directions) && directions[i]
size_along(x, i) = x isa AbstractArray ? size(x, i) : 1

@inline join!(A::Array{T,N}, shape::NTuple{N,Int}, directions::Tuple, before::NTuple{N,Int}, ::Tuple{}) where {T,N} = A
@inline function join!(A::Array{T,N}, shape::NTuple{N,Int}, directions::Tuple, before::NTuple{N,Int}, pieces::Tuple) where {T,N}
    x = pieces[1]
    put!(A, before, ntuple(i -> is_along(directions, i) ? size_along(x, i) : shape[i], Val(N)), x)
    after = ntuple(i -> is_along(directions, i) ? before[i] + size_along(x, i) : before[i], Val(N))
    join!(A, shape, directions, after, Base.tail(pieces))
end

"Arrays one behind the other along a dimension that is a constant."
function along(::Val{D}, pieces::NTuple{L,AbstractArray{T}}) where {D,L,T}
    directions, N = ntuple(i -> i == D, Val(D)), max(D, maximum(map(ndims, pieces)))
    shape = ntuple(i -> i == D ? sum(map(x -> size(x, i), pieces)) : size(pieces[1], i), Val(N))
    for x in pieces, i in 1:N
        i == D || size(x, i) == shape[i] || throw(DimensionMismatch("mismatch in dimension $i (expected $(shape[i]) got $(size(x, i)))"))
    end
    join!(Array{T,N}(undef, shape), shape, directions, ntuple(i -> 0, Val(N)), pieces)
end
# What is of no more than three dimensions has one of few types.
along(d::Int, pieces::Tuple) = d == 1 ? along(Val(1), pieces) : d == 2 ? along(Val(2), pieces) : d == 3 ? along(Val(3), pieces) :
    throw(ArgumentError("cat dimension must be 1, 2 or 3 in a function that is differentiated, but got $d"))

"Blocks, one row of them after the other; the places of all are known."
@inline lay!(A::Matrix, tops::Tuple, lefts::Tuple, ::Tuple{}) = A
@inline function lay!(A::Matrix, tops::Tuple, lefts::Tuple, blocks::Tuple)
    x = blocks[1]
    put!(A, (tops[1], lefts[1]), (size_along(x, 1), size_along(x, 2)), x)
    lay!(A, Base.tail(tops), Base.tail(lefts), Base.tail(blocks))
end

function blocks(::Type{T}, rows::NTuple{M,Int}, pieces::NTuple{L,Any}) where {T,M,L}
    heights, widths = map(x -> size_along(x, 1), pieces), map(x -> size_along(x, 2), pieces)
    tops, lefts = Vector{Int}(undef, L), Vector{Int}(undef, L)
    top, n, width = 0, 0, 0
    sum(rows) == L || throw(ArgumentError("argument count does not match specified shape (expected $(sum(rows)), got $L)"))
    for i in 1:M
        left, height = 0, heights[n+1]
        for _ in 1:rows[i]
            n += 1
            heights[n] == height || throw(ArgumentError("mismatched height in block row $i (expected $height, got $(heights[n]))"))
            tops[n], lefts[n] = top, left
            left += widths[n]
        end
        i == 1 || left == width || throw(ArgumentError("block row $i has mismatched number of columns (expected $width, got $left)"))
        top, width = top + height, left
    end
    lay!(Matrix{T}(undef, top, width), ntuple(i -> tops[i], Val(L)), ntuple(i -> lefts[i], Val(L)), pieces)
end

function repeated(A::Array{T,N}, inner::NTuple{N,Int}, outer::NTuple{N,Int}) where {T,N}
    out = Array{T,N}(undef, size(A) .* inner .* outer)
    for at in CartesianIndices(out)
        out[at] = A[(mod.(div.(at.I .- 1, inner), size(A)) .+ 1)...]
    end
    out
end

listed(::Type{T}, numbers::Tuple) where {T} = (out = Vector{T}(undef, length(numbers)); store!(out, 1, numbers); out)
@inline store!(out, n::Int, ::Tuple{}) = nothing
@inline store!(out, n::Int, numbers::Tuple) = (out[n] = numbers[1]; store!(out, n + 1, Base.tail(numbers)))

@inline function slices(A::Array{T,N}, ::Val{D}) where {T,N,D}
    before, after = ntuple(_ -> Colon(), Val(D - 1)), ntuple(_ -> Colon(), Val(N - D))
    (view(A, before..., n, after...) for n in axes(A, D))
end
slices_along(A::Array{T,N}, d::Int) where {T,N} = d == 1 ? slices(A, Val(1)) : N >= 2 && d == 2 ? slices(A, Val(2)) : N >= 3 && d == 3 ? slices(A, Val(3)) :
    throw(ArgumentError("eachslice along dimension $d of an array of $N, in a function that is differentiated"))

"A square matrix of diagonals, by their numbers; what is given twice is added."
function diagonals(pairs::Tuple)
    n = maximum(map(p -> length(p.second) + abs(p.first), pairs))
    A = zeros(promote_type(map(p -> eltype(p.second), pairs)...), n, n)
    put_diagonals!(A, pairs)
    A
end
@inline put_diagonals!(A, ::Tuple{}) = nothing
@inline function put_diagonals!(A, pairs::Tuple)
    k, v = pairs[1]
    for i in 1:length(v)
        A[i+max(-k, 0), i+max(k, 0)] += v[i]
    end
    put_diagonals!(A, Base.tail(pairs))
end

"What a function makes of each part along some dimensions, put together: a number takes the place of its part, an array fills what it has elements for."
function sliced(f::F, A::Array{T,N}, along::NTuple{M,Int}) where {F,T,N,M}
    all(d -> 1 <= d <= N, along) || throw(ArgumentError("mapslices: dimensions $along of an array of $N"))
    parts = CartesianIndices(ntuple(i -> i in along ? 1 : size(A, i), Val(N)))
    isempty(parts) && throw(ArgumentError("mapslices of an empty array, in a function that is differentiated"))
    first = f(part_at(A, along, parts[1].I))
    lengths = ntuple(k -> size_along(first, k), Val(M))
    out = Array{first isa AbstractArray ? eltype(first) : typeof(first),N}(undef, ntuple(i -> i in along ? lengths[number_of(i, along)] : size(A, i), Val(N)))
    fill_part!(out, along, parts[1].I, first)
    for n in 2:length(parts)
        fill_part!(out, along, parts[n].I, f(part_at(A, along, parts[n].I)))
    end
    out
end
sliced(f::F, A::Array, along::Integer) where {F} = sliced(f, A, (Int(along),))
sliced(f::F, A::Array, along) where {F} = (d = Int[along...]; length(d) == 1 ? sliced(f, A, (d[1],)) : length(d) == 2 ? sliced(f, A, (d[1], d[2])) :
    throw(ArgumentError("mapslices along more than two dimensions, in a function that is differentiated")))
number_of(i::Int, along::Tuple) = (for k in 1:length(along); along[k] == i && return k; end; 0)

"The place of an element of a part."
@inline place_in(along::NTuple{M,Int}, start::NTuple{N,Int}, at::NTuple{M,Int}) where {N,M} = ntuple(i -> i in along ? at[number_of(i, along)] : start[i], Val(N))

function part_at(A::Array{T,N}, along::NTuple{M,Int}, start::NTuple{N,Int}) where {T,N,M}
    part = Array{T,M}(undef, ntuple(k -> size(A, along[k]), Val(M)))
    for at in CartesianIndices(part)
        part[at] = A[place_in(along, start, at.I)...]
    end
    part
end

function fill_part!(out::Array, along::NTuple{M,Int}, start, x) where {M}
    size_of = ntuple(k -> size(out, along[k]), Val(M))
    prod(size_of) == (x isa AbstractArray ? length(x) : 1) || throw(DimensionMismatch("mapslices: parts of several sizes"))
    n = 0
    for at in CartesianIndices(size_of)
        n += 1
        out[place_in(along, start, at.I)...] = x isa AbstractArray ? x[n] : x
    end
end

"What the largest or smallest elements along dimensions are compared with first."
function start_of(f, extreme, A::Array{T,N}, dimensions) where {T,N}
    sizes = ntuple(d -> d in dimensions ? 1 : size(A, d), Val(N))
    prod(sizes) > 0 && isempty(A) && throw(ArgumentError("reducing over an empty collection is not allowed"))
    isempty(A) ? fill(extreme(T), sizes) : fill(extreme(typeof(f(A[1]))), sizes)
end

function columns(::Type{T}, pieces::Tuple) where {T}
    heights = map(x -> size(x, 1), pieces)
    all(isequal(heights[1]), heights) || throw(ArgumentError("number of rows of each array must match (got $heights)"))
    shape = (heights[1], sum(map(x -> size(x, 2), pieces)))
    join!(Matrix{T}(undef, shape), shape, (false, true), (0, 0), pieces)
end

function part(F::QRCompactWY, d::Symbol)
    d === :R && return triangle(F)
    d === :Q ? QRCompactWYQ(getfield(F, :factors), getfield(F, :T)) : getfield(F, d)
end
function part(F::QRPivoted, d::Symbol)
    d === :R && return triangle(F)
    d === :Q && return QRPackedQ(getfield(F, :factors), getfield(F, :τ))
    d === :P && return permutation(eltype(F), getfield(F, :jpvt))
    getfield(F, d === :p ? :jpvt : d)
end
triangle(F) = (A = getfield(F, :factors); triu!(A[1:min(size(A)...), :]))
permutation(::Type{T}, p) where {T} = T[p[j] == i for i in 1:length(p), j in 1:length(p)]

# Whether a factor is zero is no part of its type, or of that of a sum, here: where it is, too, it has a derivative.
@inline times(x::Real, factor::Floats) = (iszero(factor) && !isfinite(x) ? zero(x) : x) * factor
times(x, factor) = x * factor

const factors_added = Ref(false)
const has_times = isdefined(LinearAlgebra, Symbol("*ₛ"))
asks_for_zero() = which(Broadcast.broadcasted, Tuple{typeof(LinearAlgebra.:*ₛ),Any,Any})

"Adds methods for factors of products with `Diagonal` and of `mul!` to LinearAlgebra's, if the program has such."
function keep_factors!()
    (factors_added[] || !has_times || !any(i -> i.specTypes.parameters[end] <: Floats, Emit.specializations(asks_for_zero()))) && return
    seldom(add_factors!)
end

function add_factors!()
    factors_added[] && return
    has_times && Core.eval(@__MODULE__, :(Broadcast.broadcasted(::typeof(LinearAlgebra.:*ₛ), x, factor::Floats) = Broadcast.broadcasted(times, x, factor)))
    for (A, B) in ((:Floats, :(Union{Bool,Int,Floats})), (:(Union{Bool,Int}), :Floats))
        Core.eval(@__MODULE__, quote
            @inline LinearAlgebra.MulAddMul(alpha::A, beta::B) where {A<:$A,B<:$B} = LinearAlgebra.MulAddMul{false,false,A,B}(alpha, beta)
            @inline (p::LinearAlgebra.MulAddMul{false,false,<:$A,<:$B})(x::Real, y::Real) = x * p.alpha + times(y, p.beta)
        end)
    end
    factors_added[] = true
end

const added = Ref(false)

"Adds the methods to those of Base; whether that was not done before."
function add_methods!()
    added[] && return false
    add_factors!()
    Core.eval(@__MODULE__, quote
        Base.__cat(A::Array, shape::NTuple{N,Int}, directions, pieces::Vararg{Any,L}) where {N,L} = join!(A, shape, directions, ntuple(i -> 0, Val(N)), pieces)
        Base._cat(d::Int, pieces::Vararg{Union{Vector{T},Matrix{T}},L}) where {T<:Floats,L} = along(d, pieces)
        Base._cat(d::Val, pieces::Vararg{Union{Vector{T},Matrix{T}},L}) where {T<:Floats,L} = along(d, pieces)
        Base.deepcopy(x::Array{<:Floats}) = copy(x)
        LinearAlgebra.diagm(first::Pair{<:Integer,<:Vector{<:Floats}}, more::Vararg{Pair{<:Integer,<:Vector{<:Floats}},L}) where {L} = diagonals((first, more...))
        Base.eachslice(A::Array{<:Floats}; dims) = slices_along(A, Int(dims isa Tuple ? first(dims) : dims))
        Base.Dict(pairs::Base.Generator) = Base.dict_with_eltype((K, V) -> Dict{K,V}, pairs, eltype(pairs))
        Base.mapslices(f::F, A::Array{<:Floats}; dims) where {F} = sliced(f, A, dims)
        Base.vect(numbers::Vararg{Union{Floats,Integer},L}) where {L} = listed(promote_type(map(typeof, numbers)...), numbers)
        Base.mapreduce(f::F, op::O, A::Array, B::Array) where {F,O} = reduce(op, map(f, A, B))
        Base.hvcat(rows::NTuple{M,Int}, pieces::Vararg{T,L}) where {M,T<:Floats,L} = blocks(T, rows, pieces)
        Base._repeat(A::Array{T,N}, inner::NTuple{N,Int}, outer::NTuple{N,Int}) where {T,N} = repeated(A, inner, outer)
        Base.reducedim_init(f::F, ::typeof(max), A::Array{<:Floats}, dimensions) where {F} = start_of(f, typemin, A, dimensions)
        Base.reducedim_init(f::F, ::typeof(min), A::Array{<:Floats}, dimensions) where {F} = start_of(f, typemax, A, dimensions)
        Base.typed_hcat(::Type{T}, pieces::Vararg{Dense,L}) where {T<:Floats,L} = columns(T, pieces)
        Base.getproperty(F::QRCompactWY{T,Matrix{T}}, d::Symbol) where {T<:Floats} = part(F, d)
        Base.getproperty(F::QRPivoted{T,Matrix{T}}, d::Symbol) where {T<:Floats} = part(F, d)
    end)
    for pieces in (:Number, :Dense, :(Union{Number,Dense}))
        Core.eval(@__MODULE__, :(Base.typed_hvcat(::Type{T}, rows::NTuple{M,Int}, pieces::Vararg{$pieces,L}) where {T<:Floats,M,L} = blocks(T, rows, pieces)))
    end
    added[] = true
end

end
