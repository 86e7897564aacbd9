# Functions of Base and LinearAlgebra that Julia compiles for arguments of any type, so that they call what they do at run time: `[x; a]`, `[a b; c d]`,
# `repeat`, `maximum(A; dims)`, `sortperm(x)`, the parts of QR. Here they are once more, for dense arrays, each compiled for the types that it is given; what they compute is
# the same.
#
# The methods are added to Base's when a derivative first needs one (`add_methods!`); Julia compiles anew what called the others. Outside of derivatives they call
# Base's own (`within_autodiff` asks), and say no more than of which type its result is; within one, arguments that Base does not take are its error (`as_base`).
# Not handled: `cat` along several dimensions at once, or more than three; more than `MOST` pieces.

module Unrolled

using LinearAlgebra
using LinearAlgebra: LU, QRCompactWY, QRCompactWYQ, QRPackedQ, QRPivoted
using Base.Order: Forward, Ordering, Perm, ord
using Base.Sort: Algorithm, PartialQuickSort
import ..Emit, ..seldom
import ..Models: within_autodiff

const Floats = Union{Float64,Float32}
const Part{T,N} = Union{Array{T,N},SubArray{T,N,<:Array}}
const Columns = Union{Part{<:Any,1},Part{<:Any,2},Adjoint{<:Any,<:Part{<:Any,2}},Transpose{<:Any,<:Part{<:Any,2}}}
const Rows = Union{Adjoint{<:Any,<:Part{<:Any,1}},Transpose{<:Any,<:Part{<:Any,1}}}
const Dense = Union{Columns,Rows}

"So many pieces are taken one by one; of more it takes Julia long to compile what is done."
const MOST = 64

"The number of the next element that is not missing, behind all if there is none."
function next_present(A::Array, n::Int)
    n += 1
    while n <= length(A) && A[n] === missing
        n += 1
    end
    n
end

"The reduction of what is not missing, from the first to the last."
function of_present(f::F, op::O, itr) where {F,O}
    A, T = itr.x, eltype(itr)
    n = next_present(A, 0)
    n > length(A) && return Base.mapreduce_empty(f, op, T)
    a, n = A[n]::T, next_present(A, n)
    n > length(A) && return Base.mapreduce_first(f, op, a)
    v = op(f(a), f(A[n]::T))
    n = next_present(A, n)
    while n <= length(A)
        v = op(v, f(A[n]::T))
        n = next_present(A, n)
    end
    v
end

"The numbers of the elements, in order."
numbered(v::Vector) = Int[n for n in 1:length(v)]

"Throws what a function of Base throws of arguments that it does not take."
@noinline function as_base(@nospecialize(f), @nospecialize(arguments...))
    Base.invokelatest(f, arguments...)
    throw(ArgumentError("Enzyme: these arguments of $f are not handled in a function that is differentiated"))
end

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
        i == D || size(x, i) == shape[i] || as_base(own_cat, D, pieces)
    end
    join!(Array{T,N}(undef, shape), shape, directions, ntuple(i -> 0, Val(N)), pieces)
end
@noinline own_cat(d, pieces::NTuple{L,AbstractArray{T}}) where {L,T} = invoke(Base._cat, Tuple{Any,Vararg{AbstractArray{T}}}, d, pieces...)

@inline function joined(d::Val{D}, pieces::NTuple{L,AbstractArray{T}}) where {D,L,T}
    D isa Int && D >= 1 || return own_cat(d, pieces)
    within_autodiff() ? along(d, pieces) : own_cat(d, pieces)::Array{T,max(D, maximum(map(ndims, pieces)))}
end
# What is of no more than three dimensions has one of few types.
@inline joined(d::Int, pieces::NTuple{L,AbstractArray{T}}) where {L,T} = d == 1 ? joined(Val(1), pieces) : d == 2 ? joined(Val(2), pieces) : d == 3 ? joined(Val(3), pieces) :
    own_cat(d, pieces)::Array{T}

"Matrices one behind the other along both dimensions, with zeros beside them."
@inline function diagonal_blocks(d::NTuple{2,Int}, pieces::NTuple{L,Matrix{T}}) where {L,T}
    (within_autodiff() && (d == (1, 2) || d == (2, 1))) || return own_cat(d, pieces)::Array{T}
    shape = ntuple(i -> sum(map(x -> size(x, i), pieces)), Val(2))
    join!(zeros(T, shape), shape, (true, true), (0, 0), pieces)
end

"Blocks, one row of them after the other; the places of all are known."
@inline lay!(A::Matrix, tops::Tuple, lefts::Tuple, ::Tuple{}) = A
@inline function lay!(A::Matrix, tops::Tuple, lefts::Tuple, blocks::Tuple)
    x = blocks[1]
    put!(A, (tops[1], lefts[1]), (size_along(x, 1), size_along(x, 2)), x)
    lay!(A, Base.tail(tops), Base.tail(lefts), Base.tail(blocks))
end

const Said = Union{Val{true},Val{false}}
function blocks(::Type{T}, said::Said, rows::NTuple{M,Int}, pieces::NTuple{L,Any}) where {T,M,L}
    heights, widths = map(x -> size_along(x, 1), pieces), map(x -> size_along(x, 2), pieces)
    tops, lefts = Vector{Int}(undef, L), Vector{Int}(undef, L)
    top, n, width = 0, 0, 0
    sum(rows) == L && all(>(0), rows) || as_base(own_blocks, T, said, rows, pieces)
    for i in 1:M
        left, height = 0, heights[n+1]
        for _ in 1:rows[i]
            n += 1
            heights[n] == height || as_base(own_blocks, T, said, rows, pieces)
            tops[n], lefts[n] = top, left
            left += widths[n]
        end
        i == 1 || left == width || as_base(own_blocks, T, said, rows, pieces)
        top, width = top + height, left
    end
    lay!(Matrix{T}(undef, top, width), ntuple(i -> tops[i], Val(L)), ntuple(i -> lefts[i], Val(L)), pieces)
end

const Rowed = Tuple{Vararg{Int}}
# Whether the program says of which type the elements are.
@noinline own_blocks(::Type, ::Val{false}, rows, pieces::Tuple{Vararg{Number}}) = invoke(Base.hvcat, Tuple{Rowed,Vararg{S}} where {S<:Number}, rows, pieces...)
@noinline own_blocks(::Type{T}, ::Val{true}, rows, pieces::Tuple{Vararg{Number}}) where {T} = invoke(Base.typed_hvcat, Tuple{Type,Rowed,Vararg{Number}}, T, rows, pieces...)
@noinline own_blocks(::Type{T}, ::Val{true}, rows, pieces::Tuple{Vararg{AbstractVecOrMat}}) where {T} = invoke(Base.typed_hvcat, Tuple{Type,Rowed,Vararg{AbstractVecOrMat}}, T, rows, pieces...)
@noinline own_blocks(::Type{T}, ::Val{true}, rows, pieces::Tuple) where {T} = invoke(Base.typed_hvcat, Tuple{Type,Rowed,Vararg{Any}}, T, rows, pieces...)
@inline function laid(::Type{T}, said::Said, rows::NTuple{M,Int}, pieces::NTuple{L,Any}) where {T,M,L}
    M >= 1 || return own_blocks(T, said, rows, pieces)
    1 <= L <= MOST && within_autodiff() ? blocks(T, said, rows, pieces) : own_blocks(T, said, rows, pieces)::Matrix{T}
end

function repeated(A::Array{T,N}, inner::NTuple{N,Int}, outer::NTuple{N,Int}) where {T,N}
    all(>=(0), inner) && all(>=(0), outer) || as_base(own_repeated, A, inner, outer)
    out = Array{T,N}(undef, size(A) .* inner .* outer)
    for at in CartesianIndices(out)
        out[at] = A[(mod.(div.(at.I .- 1, inner), size(A)) .+ 1)...]
    end
    out
end
@noinline own_repeated(A, inner, outer) = invoke(Base._repeat, Tuple{AbstractArray,Any,Any}, A, inner, outer)

function each_copied(A::Array)
    B = similar(A)
    for i in eachindex(A)
        B[i] = A[i]
    end
    B
end

# Room in vectors of structures of integers and floats, whose elements are moved one by one: so it is known which word is what.
function taken_out!(a::Vector, before::Int, n::Int)
    0 <= n && 0 <= before && before + n <= length(a) || throw(BoundsError(a, before + n))
    for i in (before + 1):(length(a) - n)
        a[i] = a[i+n]
    end
    Base._deleteend!(a, n)
end
function made_room!(a::Vector, before::Int, n::Int)
    0 <= n && 0 <= before <= length(a) || throw(BoundsError(a, before + 1))
    Base._growend!(a, n)
    for i in length(a):-1:(before + n + 1)
        a[i] = a[i-n]
    end
end

listed(::Type{T}, numbers::Tuple) where {T} = (out = Vector{T}(undef, length(numbers)); store!(out, 1, numbers); out)
@inline store!(out, n::Int, ::Tuple{}) = nothing
@inline store!(out, n::Int, numbers::Tuple) = (out[n] = numbers[1]; store!(out, n + 1, Base.tail(numbers)))

"As Base's `eachslice`, with a function of its type."
@inline slices(A::Array{T,N}, d::Int, ::Val{D}) where {T,N,D} = D > N ? as_base(own_slices, A, d) :
    d == D ? each_part(A, ntuple(_ -> Colon(), Val(D - 1)), ntuple(_ -> Colon(), Val(N - D)), axes(A, D)) : slices(A, d, Val(D + 1))
@inline slices(A::Array, d::Union{Int,Tuple{Int}}) = slices(A, d[1], Val(1))
function slices(A::Array, dims)
    within_autodiff() || return own_slices(A, dims)
    length(dims) == 1 && first(dims) isa Int ? slices(A, first(dims), Val(1)) : as_base(own_slices, A, dims)
end
@noinline own_slices(A, dims) = invoke(Base.eachslice, Tuple{AbstractArray}, A; dims = dims)
# What Base gives on other versions, or a closure that has other variables than these, is not made here.
const Made = typeof(eachslice(zeros(1); dims = 1))
const is_closure = Made <: Base.Generator && fieldnames(fieldtype(Made, :f)) === (:A, :inds_before, :inds_after)
if is_closure
    const Closure = fieldtype(Made, :f).name.wrapper
    @eval each_part(A, before, after, numbers) = Base.Generator($(Expr(:new, :(Closure{typeof(A),typeof(before),typeof(after)}), :A, :before, :after)), numbers)
end

"The dictionary that Base makes for these pairs, without them."
@generated function table_for(pairs::Tuple)
    K = V = Union{}
    for P in fieldtypes(pairs)
        K, V = Base.promote_typejoin(K, P.parameters[1]), Base.promote_typejoin(V, P.parameters[2])
    end
    :(Dict{$K,$V}())
end
@inline noted!(d::Dict, ::Tuple{}) = d
@inline noted!(d::Dict, pairs::Tuple) = (d[pairs[1].first] = pairs[1].second; noted!(d, Base.tail(pairs)))
@noinline own_table(::Type{D}, pairs::Tuple) where {D<:Dict} = invoke(D, Tuple{Vararg{Pair}}, pairs...)::D

"A square matrix of diagonals, by their numbers; what is given twice is added."
function diagonals(pairs::Tuple)
    n = maximum(map(p -> length(p.second) + abs(Int(p.first)), pairs))
    A = zeros(promote_type(map(p -> eltype(p.second), pairs)...), n, n)
    put_diagonals!(A, pairs)
    A
end
@inline put_diagonals!(A, ::Tuple{}) = nothing
@inline function put_diagonals!(A, pairs::Tuple)
    k, v = Int(pairs[1].first), pairs[1].second
    for i in 1:length(v)
        A[i+max(-k, 0), i+max(k, 0)] += v[i]
    end
    put_diagonals!(A, Base.tail(pairs))
end
@noinline own_diagonals(pairs::Tuple) = invoke(LinearAlgebra.diagm, Tuple{Vararg{Pair{<:Integer,<:AbstractVector}}}, pairs...)
@inline diagonal(pairs::NTuple{L,Any}) where {L} =
    L <= MOST && within_autodiff() ? diagonals(pairs) : own_diagonals(pairs)::Matrix{promote_type(map(p -> eltype(p.second), pairs)...)}

"What a function makes of each part along some dimensions, put together: a number takes the place of its part, an array fills what it has elements for."
function sliced(::Type{S}, f::F, A::Array{T,N}, along::NTuple{M,Int}) where {S,F,T,N,M}
    all(d -> 1 <= d <= N, along) && all(k -> number_of(along[k], along) == k, 1:M) || as_base(own_sliced, f, A, along)
    parts = CartesianIndices(ntuple(i -> i in along ? 1 : size(A, i), Val(N)))
    isempty(parts) && as_base(own_sliced, f, A, along)
    first = f(part_at(A, along, parts[1].I))
    dimensions_of(first) <= M || as_base(own_sliced, f, A, along)
    lengths = ntuple(k -> size_along(first, k), Val(M))
    out = Array{isconcretetype(S) ? S : first isa AbstractArray ? eltype(first) : typeof(first),N}(undef, ntuple(i -> i in along ? lengths[number_of(i, along)] : size(A, i), Val(N)))
    fill_part!(out, along, parts[1].I, first)
    for n in 2:length(parts)
        x = f(part_at(A, along, parts[n].I))
        ntuple(k -> size_along(x, k), Val(M)) == lengths && dimensions_of(x) <= M || as_base(own_sliced, f, A, along)
        fill_part!(out, along, parts[n].I, x)
    end
    out
end
function sliced(::Type{S}, f::F, A::Array, dims) where {S,F}
    d = Int[dims...]
    length(d) == 1 ? sliced(S, f, A, (d[1],)) : length(d) == 2 ? sliced(S, f, A, (d[1], d[2])) : length(d) == 3 ? sliced(S, f, A, (d[1], d[2], d[3])) : as_base(own_sliced, f, A, dims)
end
@noinline own_sliced(f::F, A, dims) where {F} = invoke(Base.mapslices, Tuple{Any,AbstractArray}, f, A; dims = dims)
number_of(i::Int, along::Tuple) = (for k in 1:length(along); along[k] == i && return k; end; 0)
dimensions_of(x) = x isa AbstractArray ? ndims(x) : 0

# Base's result has elements of the type that the function returns, or its array holds, for parts of as many dimensions as there can be.
element(::Type{Union{}}) = Union{}
element(::Type{S}) where {S<:Number} = isconcretetype(S) ? S : Any
element(::Type{Array{S,K}}) where {S<:Number,K} = K > 0 && isconcretetype(S) ? S : Any
element(::Type) = Any
@inline elements(f::F, A::Array{T}, ::Val{0}) where {F,T} = (S = Core.Compiler.return_type(f, Tuple{T}); S <: Number ? element(S) : Any)
@inline elements(f::F, A::Array{T}, ::Val{M}) where {F,T,M} = element(Core.Compiler.return_type(f, Tuple{Array{T,M}}))
@inline all_elements(f::F, A::Array, ::Val{M}, ::Val{N}) where {F,M,N} = M > N ? Union{} : Union{elements(f, A, Val(M)),all_elements(f, A, Val(M + 1), Val(N))}
@inline elements_along(f::F, A::Array, ::Integer) where {F} = elements(f, A, Val(1))
@inline elements_along(f::F, A::Array, ::NTuple{M,Integer}) where {F,M} = all_elements(f, A, Val(min(M, 1)), Val(M))
@inline elements_along(f::F, A::Array{T,N}, dims) where {F,T,N} = all_elements(f, A, Val(0), Val(N))
counted(d::Integer) = (Int(d),)
counted(d::NTuple{M,Integer}) where {M} = map(Int, d)
counted(d) = d

@inline function part_by_part(f::F, A::Array{T,N}, dims) where {F,T,N}
    S = elements_along(f, A, dims)
    within_autodiff() ? sliced(S, f, A, counted(dims)) : own_sliced(f, A, dims)::(isconcretetype(S) ? Array{S,N} : Any)
end

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
    n = 0
    for at in CartesianIndices(ntuple(k -> size(out, along[k]), Val(M)))
        n += 1
        out[place_in(along, start, at.I)...] = x isa AbstractArray ? x[n] : x
    end
end

"What the largest or smallest elements along dimensions are compared with first."
function start_of(f::F, op::O, extreme::X, A::Array{T,N}, dimensions) where {F,O,X,T,N}
    sizes = ntuple(d -> d in dimensions ? 1 : size(A, d), Val(N))
    all(d -> d isa Int && d >= 1, dimensions) && (prod(sizes) == 0 || !isempty(A)) || as_base(own_start, f, op, A, dimensions)
    fill(extreme(T), sizes)
end
@noinline own_start(f::F, op::O, A, dimensions) where {F,O} = invoke(Base.reducedim_init, Tuple{Any,O,AbstractArray,Any}, f, op, A, dimensions)
@inline function start(f::F, op::O, extreme::X, A::Array{T,N}, dimensions) where {F,O,X,T,N}
    Core.Compiler.return_type(f, Tuple{T}) === T || return own_start(f, op, A, dimensions)
    within_autodiff() ? start_of(f, op, extreme, A, dimensions) : own_start(f, op, A, dimensions)::Array{T,N}
end

function columns(::Type{T}, pieces::Tuple) where {T}
    all(x -> size(x, 1) == size(pieces[1], 1), pieces) || as_base(own_columns, T, pieces)
    shape = (size(pieces[1], 1), sum(map(x -> size(x, 2), pieces)))
    join!(Matrix{T}(undef, shape), shape, (false, true), (0, 0), pieces)
end
@noinline own_columns(::Type{T}, pieces::Tuple) where {T} = invoke(Base.typed_hcat, Tuple{Type,Vararg{AbstractVecOrMat}}, T, pieces...)
@inline side_by_side(::Type{T}, pieces::NTuple{L,Any}) where {T,L} = L <= MOST && within_autodiff() ? columns(T, pieces) : own_columns(T, pieces)::Matrix{T}

function filled!(A::Array, shape, directions, pieces::Tuple)
    all(x -> !(x isa AbstractArray) || !Base.has_offset_axes(x), pieces) || as_base(own_filled!, A, shape, directions, pieces)
    join!(A, shape, directions, map(_ -> 0, shape), pieces)
end
@noinline own_filled!(A, shape::NTuple{N,Int}, directions, pieces) where {N} = invoke(Base.__cat, Tuple{Any,NTuple{N,Int},Any,Vararg{Any}}, A, shape, directions, pieces...)

@noinline own_listed(numbers::Tuple) = invoke(Base.vect, Tuple{Vararg{Any}}, numbers...)
@inline function list(numbers::NTuple{L,Any}) where {L}
    T = promote_type(map(typeof, numbers)...)
    L <= MOST && within_autodiff() ? listed(T, numbers) : own_listed(numbers)::Vector{T}
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
@inline part(F::LU, d::Symbol) = d === :L ? lower(F) : d === :U ? upper(F) : d === :p ? order(F) : d === :P ? permutation(eltype(F), invperm(order(F))) : getfield(F, d)
@noinline function lower(F)
    A = getfield(F, :factors)
    L = tril!(A[:, 1:min(size(A)...)])
    for i in 1:size(L, 2)
        L[i, i] = one(eltype(L))
    end
    L
end
@noinline upper(F) = triangle(F)
@noinline function order(F::LU)
    exchanges, p = getfield(F, :ipiv), collect(1:size(getfield(F, :factors), 1))
    for i in 1:length(exchanges)
        p[i], p[exchanges[i]] = p[exchanges[i]], p[i]
    end
    p
end
triangle(F) = (A = getfield(F, :factors); triu!(A[1:min(size(A)...), :]))
permutation(::Type{T}, p) where {T} = (P = zeros(T, length(p), length(p)); foreach(i -> P[p[i], i] = one(T), 1:length(p)); P)

# Whether a factor is zero is no part of its type, or of that of a sum, here: where it is, too, it has a derivative.
@inline times(x::Number, factor::Floats) = (iszero(factor) && !isfinite(x) ? zero(x) : x) * factor
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
    # Base's own where the factor is zero is `false`, and the product, which `times` is then, where not.
    has_times && Core.eval(@__MODULE__, :(@inline Broadcast.broadcasted(::typeof(LinearAlgebra.:*ₛ), x, factor::Floats) =
        iszero(factor) && !within_autodiff() ? false : Broadcast.broadcasted(times, x, factor)))
    for (A, B) in ((:Floats, :(Union{Bool,Int,Floats})), (:(Union{Bool,Int}), :Floats))
        Core.eval(@__MODULE__, quote
            @inline LinearAlgebra.MulAddMul(alpha::A, beta::B) where {A<:$A,B<:$B} =
                within_autodiff() ? LinearAlgebra.MulAddMul{false,false,A,B}(alpha, beta) : invoke(LinearAlgebra.MulAddMul, Tuple{Any,Any}, alpha, beta)
            @inline (p::LinearAlgebra.MulAddMul{false,false,<:$A,<:$B})(x::Number, y::Number) = x * p.alpha + times(y, p.beta)
        end)
    end
    factors_added[] = true
end

include("sparse.jl")

const rooms = Set{Any}()

"Adds methods that make and take room in vectors of the structures that the program has such vectors of. Whether there are new ones."
function add_rooms!()
    found = Any[]
    for f in (Base._growbeg!, Base._growat!, Base._deletebeg!, Base._deleteat!), m in methods(f)
        m.module === Base || continue
        for i in Emit.specializations(m)
            T = Base.unwrap_unionall(i.specTypes).parameters[2]
            T isa DataType && T <: Vector && is_mixed(eltype(T)) && !(eltype(T) in rooms) && push!(found, eltype(T))
        end
    end
    foreach(add_rooms_of!, unique(found))
    !isempty(found)
end
is_mixed(@nospecialize(T)) = T isa DataType && isbitstype(T) && fieldcount(T) > 0 && parentmodule(Unrolled).may_differentiate(T)::Bool

function add_rooms_of!(@nospecialize(T))
    push!(rooms, T)
    Core.eval(@__MODULE__, quote
        Base._growbeg!(a::Vector{$T}, n::Integer) = within_autodiff() ? made_room!(a, 0, Int(n)) : invoke(Base._growbeg!, Tuple{Vector,Integer}, a, n)
        Base._growat!(a::Vector{$T}, i::Integer, n::Integer) = within_autodiff() ? made_room!(a, Int(i) - 1, Int(n)) : invoke(Base._growat!, Tuple{Vector,Integer,Integer}, a, i, n)
        Base._deletebeg!(a::Vector{$T}, n::Integer) = within_autodiff() ? taken_out!(a, 0, Int(n)) : invoke(Base._deletebeg!, Tuple{Vector,Integer}, a, n)
        Base._deleteat!(a::Vector{$T}, i::Integer, n::Integer) = within_autodiff() ? taken_out!(a, Int(i) - 1, Int(n)) : invoke(Base._deleteat!, Tuple{Vector,Integer,Integer}, a, i, n)
    end)
end

const added = Ref(false)

"Adds the methods to those of Base; whether that was not done before."
function add_methods!()
    added[] && return false
    add_factors!()
    parentmodule(Unrolled).Rules.never_inline!(which(deepcopy, Tuple{Any}))
    Core.eval(@__MODULE__, quote
        @noinline Base.__cat(A::Array, shape::NTuple{N,Int}, directions, pieces::Vararg{Any,L}) where {N,L} =
            L <= MOST && within_autodiff() ? filled!(A, shape, directions, pieces) : own_filled!(A, shape, directions, pieces)::typeof(A)
        Base._cat(d::Union{Int,Val}, first::Union{Vector{T},Matrix{T}}, more::Vararg{Union{Vector{T},Matrix{T}},L}) where {T<:Floats,L} = L < MOST ? joined(d, (first, more...)) : own_cat(d, (first, more...))
        Base._cat(d::Union{Int,Val}, first::Array{T,3}, more::Vararg{Union{Matrix{T},Array{T,3}},L}) where {T<:Floats,L} = L < MOST ? joined(d, (first, more...)) : own_cat(d, (first, more...))
        Base._cat(d::NTuple{2,Int}, first::Matrix{T}, more::Vararg{Matrix{T},L}) where {T<:Floats,L} = L < MOST ? diagonal_blocks(d, (first, more...)) : own_cat(d, (first, more...))
        Base.deepcopy(x::Array{<:Floats}) = copy(x)
        # The derivative of what `Threads.@threads` does is taken in one thread: all of the loop, which it does if it is told so.
        Threads.threading_run(f::F) where {F<:Function} = within_autodiff() ? (f(true); nothing) : (invoke(Threads.threading_run, Tuple{Any}, f); nothing)
        # Messages (`@info` and its kin), which loggers of any type may take, are not made within a derivative.
        Base.CoreLogging.current_logger_for_env(level::Base.CoreLogging.LogLevel, group::Symbol, from::Module) =
            within_autodiff() ? nothing : invoke(Base.CoreLogging.current_logger_for_env, Tuple{Base.CoreLogging.LogLevel,Any,Any}, level, group, from)
        # Base's own are compiled for any `lt` and `by`.
        @inline Base.sortperm(v::Vector{<:Floats}; alg::Algorithm = Base.Sort.DEFAULT_UNSTABLE, lt = isless, by = identity, rev::Union{Bool,Nothing} = nothing, order::Ordering = Forward) =
            sort!(numbered(v), alg, Perm(ord(lt, by, rev, order), v))
        @inline Base.partialsort(v::Vector{<:Floats}, k::Union{Integer,OrdinalRange}; lt = isless, by = identity, rev::Union{Bool,Nothing} = nothing, order::Ordering = Forward) =
            partialsort!(copy(v), k, ord(lt, by, rev, order))
        @inline Base.partialsortperm(v::Vector{<:Floats}, k::Union{Integer,OrdinalRange}; lt = isless, by = identity, rev::Union{Bool,Nothing} = nothing, order::Ordering = Forward) =
            Base.Sort.maybeview(sort!(numbered(v), PartialQuickSort(k), Perm(ord(lt, by, rev, order), v)), k)
        # A copy of bytes does not say that these are floats.
        Base.unaliascopy(A::Array{<:Floats}) = within_autodiff() ? each_copied(A) : copy(A)
        LinearAlgebra.diagm(first::Pair{<:Integer,<:Vector{<:Floats}}, more::Vararg{Pair{<:Integer,<:Vector{<:Floats}},L}) where {L} = diagonal((first, more...))
        Base.Dict(pairs::Tuple{Pair,Vararg{Pair,L}}) where {L} = L < MOST && within_autodiff() ? noted!(table_for(pairs), pairs) : invoke(Base.Dict, Tuple{Any}, pairs)
        Base.Dict{K,V}(first::Pair, more::Vararg{Pair,L}) where {K,V,L} = L < MOST && within_autodiff() ? noted!(Dict{K,V}(), (first, more...)) : own_table(Dict{K,V}, (first, more...))
        Base.Dict(pairs::Union{Base.Generator,Vector{<:Pair},Base.Iterators.Zip}) = within_autodiff() ? Base.dict_with_eltype((K, V) -> Dict{K,V}, pairs, eltype(pairs)) : invoke(Base.Dict, Tuple{Any}, pairs)
        Base.mapslices(f::F, A::Array{<:Floats}; dims) where {F} = part_by_part(f, A, dims)
        Base.vect(numbers::Vararg{Union{Floats,Integer},L}) where {L} = list(numbers)
        # In the place of Base's own, which is this but for what it is compiled for.
        Base.vect(things::Vararg{Any,L}) where {L} = 1 < L <= MOST && within_autodiff() ? listed(Base.promote_typeof(things...), things) : copyto!(Vector{Base.promote_typeof(things...)}(undef, L), things)
        Base.mapreduce(f::F, op::O, A::Array, B::Array) where {F,O} = reduce(op, map(f, A, B))
        # Base's own is compiled for any `f` and `op`.
        Base._mapreduce(f::F, op::O, style::IndexLinear, itr::Base.SkipMissing{<:Array}) where {F,O} =
            within_autodiff() ? of_present(f, op, itr) : invoke(Base._mapreduce, Tuple{Any,Any,IndexLinear,Base.SkipMissing{<:AbstractArray}}, f, op, style, itr)
        Base.hvcat(rows::NTuple{M,Int}, first::T, more::Vararg{T,L}) where {M,T<:Floats,L} = laid(T, Val(false), rows, (first, more...))
        Base._repeat(A::Array{T,N}, inner::NTuple{N,Int}, outer::NTuple{N,Int}) where {T,N} = within_autodiff() ? repeated(A, inner, outer) : own_repeated(A, inner, outer)::Array{T,N}
        Base.reducedim_init(f::F, op::typeof(max), A::Array{<:Floats}, dimensions) where {F} = start(f, op, typemin, A, dimensions)
        # Base has a method of its own for these, which can be differentiated.
        Base.reducedim_init(f::Union{typeof(abs),typeof(abs2)}, op::typeof(max), A::Array{<:Floats}, dimensions) =
            invoke(Base.reducedim_init, Tuple{Union{typeof(abs),typeof(abs2)},typeof(max),AbstractArray,Any}, f, op, A, dimensions)
        Base.reducedim_init(f::F, op::typeof(min), A::Array{<:Floats}, dimensions) where {F} = start(f, op, typemax, A, dimensions)
        Base.typed_hcat(::Type{T}, first::Columns, more::Vararg{Dense,L}) where {T<:Floats,L} = side_by_side(T, (first, more...))
        Base.typed_hcat(::Type{T}, first::Rows, second::Columns, more::Vararg{Dense,L}) where {T<:Floats,L} = side_by_side(T, (first, second, more...))
        Base.getproperty(F::QRCompactWY{T,Matrix{T}}, d::Symbol) where {T<:Floats} = part(F, d)
        @inline Base.getproperty(F::LU{T,Matrix{T}}, d::Symbol) where {T<:Floats} = part(F, d)
        Base.getproperty(F::QRPivoted{T,Matrix{T}}, d::Symbol) where {T<:Floats} = part(F, d)
    end)
    is_closure && Core.eval(@__MODULE__, :(@inline Base.eachslice(A::Array{<:Floats}; dims) = slices(A, dims)))
    for pieces in (:Number, :Dense, :(Union{Number,Dense}))
        Core.eval(@__MODULE__, :(Base.typed_hvcat(::Type{T}, rows::NTuple{M,Int}, first::$pieces, more::Vararg{$pieces,L}) where {T<:Floats,M,L} = laid(T, Val(true), rows, (first, more...))))
    end
    Core.eval(@__MODULE__, SPARSE)
    added[] = true
end

end
