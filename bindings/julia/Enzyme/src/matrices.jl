# Functions of LinearAlgebra that ask what a matrix looks like (zero below the diagonal, symmetric, singular) and go a way of their own then (part of `Models`).
# That way has the value but not the derivative: of the entries that are zero, or equal, it only reads some. Here is one way for all matrices.
#
# Least squares of a matrix without full rank are an error: the solution jumps where the rank does.

"A copy of a matrix, as one of these elements."
function dense(::Type{T}, A::AbstractVecOrMat) where {T}
    B = Matrix{T}(undef, size(A, 1), size(A, 2))
    for j in 1:size(A, 2), i in 1:size(A, 1)
        B[i, j] = A[i, j]
    end
    B
end

divide(A::AbstractMatrix, b::AbstractVector) = vec(quotient(A, dense(promote_type(eltype(A), eltype(b)), b)))
divide(A::AbstractMatrix, B::AbstractMatrix) = quotient(A, dense(promote_type(eltype(A), eltype(B)), B))

function quotient(given::AbstractMatrix, B::Matrix{T}) where {T}
    m, n = size(given)
    m == size(B, 1) || throw(DimensionMismatch("arguments must have the same number of rows"))
    m == n && return LinearAlgebra.ldiv!(LinearAlgebra.lu!(dense(T, given)), B)
    k = min(m, n)
    A, tau, order = LinearAlgebra.LAPACK.geqp3!(m > n ? dense(T, given) : dense(T, transpose(given)))
    k == 0 || abs(A[k, k]) > k * eps(T) * abs(A[1, 1]) || throw(ArgumentError("Enzyme: A \\ B has no derivative where A has not full rank"))
    R, X = A[1:k, 1:k], zeros(T, n, size(B, 2))
    if m > n
        LinearAlgebra.LAPACK.ormqr!('L', 'T', A, tau, B)
        Y = LinearAlgebra.LAPACK.trtrs!('U', 'N', 'N', R, B[1:n, :])
        for j in 1:size(B, 2), i in 1:n
            X[order[i], j] = Y[i, j]
        end
        return X
    end
    Y = LinearAlgebra.LAPACK.trtrs!('U', 'T', 'N', R, B[order, :])
    for j in 1:size(B, 2), i in 1:m
        X[i, j] = Y[i, j]
    end
    LinearAlgebra.LAPACK.ormqr!('L', 'N', A, tau, X)
end

inverse(A::AbstractMatrix{T}) where {T} = LinearAlgebra.inv!(LinearAlgebra.lu!(dense(T, A)))
symmetric_inverse(A) = LinearAlgebra.Symmetric(inverse(A), LinearAlgebra.sym_uplo(A.uplo))

function determinant(A::AbstractMatrix{T}) where {T}
    F = LinearAlgebra.lu!(dense(T, A); check = false)
    LinearAlgebra.issuccess(F) && return LinearAlgebra.det(F)
    # With columns exchanged what vanishes comes last.
    Q, tau, order = LinearAlgebra.LAPACK.geqp3!(dense(T, A))
    product = one(T)
    for i in 1:length(tau)
        product *= tau[i] == 0 ? Q[i, i] : -Q[i, i]
    end
    is_odd(order) ? -product : product
end

"How near a matrix is to a singular one; infinite if it is singular."
function condition(A::AbstractMatrix{T}, p) where {T}
    p == 2 || p == 1 || p == Inf || throw(ArgumentError("p-norm must be 1, 2 or Inf, got $p"))
    if p == 2
        v = LinearAlgebra.svdvals(A)
        return iszero(v[1]) ? T(Inf) : v[1] / v[end]
    end
    LinearAlgebra.checksquare(A)
    F = LinearAlgebra.lu!(dense(T, A); check = false)
    LinearAlgebra.issuccess(F) ? LinearAlgebra.opnorm(A, p) * LinearAlgebra.opnorm(LinearAlgebra.inv!(F), p) : T(Inf)
end

function is_odd(order::Vector{Int})
    odd = false
    for i in 1:length(order), j in 1:(i - 1)
        odd = odd != (order[j] > order[i])
    end
    odd
end

const PADE = (64764752532480000, 32382376266240000, 7771770303897600, 1187353796428800, 129060195264000, 10559470521600, 670442572800, 33522128640,
    1323241920, 40840800, 960960, 16380, 182, 1)

"By squares of a rational function, as Julia does it for matrices that are not symmetric."
function exponential(given::AbstractMatrix{T}) where {T}
    LinearAlgebra.checksquare(given)
    A = dense(T, given)
    size = LinearAlgebra.opnorm(A, 1)
    halvings = size > 5.4 ? ceil(Int, log2(constant(size) / 5.4)) : 0
    A = A .* exp2(-T(halvings))
    A2 = A * A
    A4 = A2 * A2
    A6 = A2 * A4
    U = A * (A6 * (PADE[14] .* A6 .+ PADE[12] .* A4 .+ PADE[10] .* A2) .+ PADE[8] .* A6 .+ PADE[6] .* A4 .+ PADE[4] .* A2 .+ PADE[2] .* identity_like(A))
    V = A6 * (PADE[13] .* A6 .+ PADE[11] .* A4 .+ PADE[9] .* A2) .+ PADE[7] .* A6 .+ PADE[5] .* A4 .+ PADE[3] .* A2 .+ PADE[1] .* identity_like(A)
    X = LinearAlgebra.ldiv!(LinearAlgebra.lu!(V .- U), V .+ U)
    for _ in 1:halvings
        X = X * X
    end
    X
end

function identity_like(A::Matrix{T}) where {T}
    B = zeros(T, size(A, 1), size(A, 2))
    for i in 1:size(A, 1)
        B[i, i] = 1
    end
    B
end

function pseudoinverse(atol, rtol, _, A::AbstractMatrix{T}) where {T}
    F = LinearAlgebra.svd(A; full = false)
    least = isempty(F.S) ? zero(T) : max(rtol * F.S[1], atol)
    W = dense(T, transpose(F.Vt))
    for j in 1:length(F.S), i in 1:size(W, 1)
        W[i, j] = F.S[j] > least ? W[i, j] / F.S[j] : zero(T)
    end
    LinearAlgebra.BLAS.gemm('N', 'T', W, F.U)
end

# The factors of a product, and of what it is added to, are known to be zero or not to Julia's code, and what they multiply is left out then: the
# derivative of a factor that is zero is lost.
const Factors{A,B} = LinearAlgebra.MulAddMul{<:Any,<:Any,A,B}

"What is added to: of no number times zero nothing is left."
@inline times(c::T, beta::T) where {T} = beta == 0 && !isfinite(c) ? zero(T) : beta * c

function product_into(C::AbstractVecOrMat{T}, tA, tB, A, B, factor) where {T}
    (C === A || C === B) && throw(ArgumentError("output matrix must not be aliased with input matrix"))
    sum_of_products!(C, tA, tB, A, B, T(factor.alpha), T(factor.beta))
end
vector_into(y::AbstractVector{T}, tA, A, x, alpha, beta) where {T} = sum_of_products!(y, tA, 'N', A, x, T(alpha), T(beta))
vector_with(y::AbstractVector, tA, A, x, factor) = vector_into(y, tA, A, x, factor.alpha, factor.beta)
syrk(C::AbstractMatrix{T}, tA, A, alpha, beta) where {T} = sum_of_products!(C, tA, tA == 'N' ? 'T' : 'N', A, A, T(alpha), T(beta))
scaled_into(C::AbstractArray{T}, X::AbstractArray, s, factor) where {T} = scaled!(C, X, T(factor.alpha), T(factor.beta), s)
scaled_from(C::AbstractArray{T}, s, X::AbstractArray, factor) where {T} = scaled!(C, X, T(factor.alpha), T(factor.beta), s)

function sum_of_products!(C, tA, tB, A, B, alpha::T, beta::T) where {T}
    plainA, plainB = tA == 'N', tB == 'N'
    m, k = size(A, plainA ? 1 : 2), size(A, plainA ? 2 : 1)
    l, n = size(B, plainB ? 1 : 2), size(B, plainB ? 2 : 1)
    k == l || throw(DimensionMismatch("A has dimensions ($m,$k) but B has dimensions ($l,$n)"))
    size(C, 1) == m && size(C, 2) == n || throw(DimensionMismatch("C has dimensions $(size(C)), should have ($m,$n)"))
    @inbounds for j in 1:n, i in 1:m
        s = zero(T)
        for l in 1:k
            s += (plainA ? A[i, l] : A[l, i]) * (plainB ? B[l, j] : B[j, l])
        end
        C[i, j] = alpha * s + times(C[i, j], beta)
    end
    C
end

function scaled!(C, X, alpha::T, beta::T, s) where {T}
    length(C) == length(X) || throw(DimensionMismatch("first array has length $(length(C)) which does not match the length of the second, $(length(X))."))
    for (c, x) in zip(eachindex(C), eachindex(X))
        @inbounds C[c] = alpha * (X[x] * s) + times(C[c], beta)
    end
    C
end
