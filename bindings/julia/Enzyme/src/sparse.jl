# Sparse matrices from lists of entries (part of `Unrolled`). Where each entry goes is found without derivative; the numbers follow.
#
# Solutions of sparse equations come from SuiteSparse, their derivatives by rule, as those of a program's functions do. Not handled: several right-hand sides
# at once, and factorisations that the program asks for itself.

using SparseArrays
import ..EnzymeRules, ..Annotation, ..Const, ..Duplicated
import ..EnzymeRules: AugmentedReturn

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

"Stores the solution of `A x = b`, of the entries of `A` as they lie."
@noinline function solve_sparse!(x::Vector{Float64}, columns::Vector{Int}, rows::Vector{Int}, values::Vector{Float64}, b::Vector{Float64})
    copyto!(x, solved(factors_of(columns, rows, values), b))
    nothing
end
# Julia's own code does this: none of it is to be compiled into derivatives.
factors_of(columns, rows, values) = Base.invokelatest(lu, SparseMatrixCSC{Float64,Int}(length(columns) - 1, length(columns) - 1, columns, rows, values))
solved(F, b)::Vector{Float64} = Base.invokelatest(\, F, b)
solved_transposed(F, b)::Vector{Float64} = Base.invokelatest(\, Base.invokelatest(adjoint, F), b)

function divided(A::SparseMatrixCSC, b::Vector)
    A.m == A.n == length(b) || as_base(own_divide, A, b)
    x = Vector{Float64}(undef, length(b))
    solve_sparse!(x, A.colptr, A.rowval, A.nzval, b)
    x
end
@noinline own_divide(A, b) = Base.invokelatest(invoke, \, Tuple{SparseArrays.AbstractSparseMatrixCSC,AbstractVecOrMat}, A, b)::Vector{Float64}

"Adds a product of a sparse matrix with a vector to another vector."
function add_product!(y::Vector, sign, columns, rows, values, x)
    for j in 1:(length(columns) - 1), k in columns[j]:(columns[j+1] - 1)
        y[rows[k]] += sign * values[k] * x[j]
    end
end

function forward_solution(x, columns, rows, values, b)
    F = factors_of(columns.val, rows.val, values.val)
    copyto!(x.val, solved(F, b.val))
    change = b isa Duplicated ? copy(b.dval) : zero(b.val)
    values isa Duplicated && add_product!(change, -1, columns.val, rows.val, values.dval, x.val)
    x isa Duplicated && copyto!(x.dval, solved(F, change))
    nothing
end

function first_solution(x, columns, rows, values, b)
    F = factors_of(copy(columns.val), copy(rows.val), copy(values.val))
    copyto!(x.val, solved(F, b.val))
    AugmentedReturn(nothing, nothing, Any[F, copy(x.val), copy(columns.val), copy(rows.val)])
end

function reverse_solution(tape, x, columns, rows, values, b)
    x isa Duplicated || return ntuple(_ -> nothing, 5)
    F, solution, starts, places = tape[1], tape[2]::Vector{Float64}, tape[3]::Vector{Int}, tape[4]::Vector{Int}
    adjoint = solved_transposed(F, x.dval)
    fill!(x.dval, 0.0)
    b isa Duplicated && (b.dval .+= adjoint)
    values isa Duplicated || return ntuple(_ -> nothing, 5)
    for j in 1:(length(starts) - 1), k in starts[j]:(starts[j+1] - 1)
        values.dval[k] -= adjoint[places[k]] * solution[j]
    end
    ntuple(_ -> nothing, 5)
end

const solves = Ref(false)
const Equations = Tuple{typeof(\),SparseMatrixCSC{Float64,Int},Vector{Float64}}
has_solutions() = any(i -> i.specTypes <: Equations, Emit.specializations(which(\, Tuple{Equations.parameters[2:3]...})))

"Adds the solution and its rule, if the program has such equations."
function keep_solutions!()
    (solves[] || !has_solutions()) && return
    solves[] = true
    Core.eval(@__MODULE__, quote
        Base.:\(A::SparseMatrixCSC{Float64,Int}, b::Vector{Float64}) = within_autodiff() ? divided(A, b) : own_divide(A, b)
        EnzymeRules.forward(config, ::Const{typeof(solve_sparse!)}, ::Type{<:Const}, x::Annotation, columns::Annotation, rows::Annotation, values::Annotation, b::Annotation) =
            forward_solution(x, columns, rows, values, b)
        EnzymeRules.augmented_primal(config, ::Const{typeof(solve_sparse!)}, ::Type{<:Const}, x::Annotation, columns::Annotation, rows::Annotation, values::Annotation, b::Annotation) =
            first_solution(x, columns, rows, values, b)
        EnzymeRules.reverse(config, ::Const{typeof(solve_sparse!)}, ::Type{<:Const}, tape, x::Annotation, columns::Annotation, rows::Annotation, values::Annotation, b::Annotation) =
            reverse_solution(tape, x, columns, rows, values, b)
    end)
end
