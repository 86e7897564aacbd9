# Sparse matrices from lists of entries (part of `Unrolled`). Where each entry goes is found without derivative; the numbers follow.

using SparseArrays

"Fills in where entries go: the columns' starts, the rows, the place of each entry, and whether it is the first there. How many places there are."
@noinline function sparse_places!(starts::Vector{Ti}, rows::Vector{Ti}, at::Vector{Int}, is_first::Vector{Bool}, I::Vector{Ti}, J::Vector{Ti}) where {Ti}
    order = sortperm(collect(zip(J, I)))
    places, counts = 0, zeros(Int, length(starts))
    for k in 1:length(order)
        n = order[k]
        is_first[n] = k == 1 || (I[n], J[n]) != (I[order[k-1]], J[order[k-1]])
        if is_first[n]
            places += 1
            rows[places] = I[n]
            counts[J[n]+1] += 1
        end
        at[n] = places
    end
    starts .= cumsum(counts) .+ 1
    places
end

@noinline own_sparse(I, J, V, m, n, combine) = invoke(sparse, Tuple{AbstractVector{eltype(I)},AbstractVector{eltype(I)},AbstractVector{eltype(V)},Integer,Integer,Any}, I, J, V, m, n, combine)

function assembled(I::Vector{Ti}, J::Vector{Ti}, V::Vector{Tv}, m::Integer, n::Integer, combine::C) where {Ti,Tv,C}
    count = length(I)
    count > 0 && length(J) == count && length(V) == count && all(i -> 1 <= i <= m, I) && all(j -> 1 <= j <= n, J) || as_base(own_sparse, I, J, V, m, n, combine)
    starts, rows, at, is_first = Vector{Ti}(undef, n + 1), Vector{Ti}(undef, count), Vector{Int}(undef, count), Vector{Bool}(undef, count)
    values = Vector{Tv}(undef, sparse_places!(starts, rows, at, is_first, I, J))
    for k in 1:count
        values[at[k]] = is_first[k] ? V[k] : combine(values[at[k]], V[k])
    end
    SparseMatrixCSC{Tv,Ti}(m, n, starts, rows[1:length(values)], values)
end

@inline entries!(I, J, V, ::Tuple{}) = nothing
@inline function entries!(I, J, V, pairs::Tuple)
    k, v = Int(pairs[1].first), pairs[1].second
    for i in 1:length(v)
        push!(I, i + max(-k, 0)), push!(J, i + max(k, 0)), push!(V, v[i])
    end
    entries!(I, J, V, Base.tail(pairs))
end
function of_diagonals(pairs::Tuple)
    I, J, V = Int[], Int[], promote_type(map(p -> eltype(p.second), pairs)...)[]
    entries!(I, J, V, pairs)
    n = max(isempty(I) ? 0 : maximum(I), isempty(J) ? 0 : maximum(J))
    sparse(I, J, V, n, n)
end
@noinline own_diagonal_matrix(pairs::Tuple) = invoke(spdiagm, Tuple{Vararg{Pair{<:Integer,<:AbstractVector}}}, pairs...)

const SPARSE = quote
    SparseArrays.sparse(I::Vector{Ti}, J::Vector{Ti}, V::Vector{Tv}, m::Integer, n::Integer, combine::C) where {Ti<:Integer,Tv<:Floats,C} =
        within_autodiff() ? assembled(I, J, V, m, n, combine) : own_sparse(I, J, V, m, n, combine)::SparseMatrixCSC{Tv,Ti}
    SparseArrays.spdiagm(first::Pair{<:Integer,<:Vector{<:Floats}}, more::Vararg{Pair{<:Integer,<:Vector{<:Floats}},L}) where {L} =
        L < MOST && within_autodiff() ? of_diagonals((first, more...)) : own_diagonal_matrix((first, more...))
end
