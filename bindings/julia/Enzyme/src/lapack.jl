# Factorisations and solves of LAPACK, and what of BLAS they are made of, as loops (part of `Models`).
#
# A triangle is read as a lower one of rows at distance `r` and columns at distance `c`: the upper triangle of A is the lower one of its transpose. Each entry
# of a factor is a sum that is stored once. The rows that LU exchanges are found by LAPACK itself, in a copy without derivative; they
# are then exchanged here before anything is eliminated. All indices count from zero.
#
# Not handled: products and quotients of matrices with triangular ones, QR, eigenvalues, singular values, factorisations of indefinite symmetric and of banded matrices; these are refused.

const LOWER, LEFT, UNIT = UInt8('L'), UInt8('L'), UInt8('U')
is_plain(trans::UInt8) = (trans == N) | (trans == LOWER_N)

"Steps along rows and columns of a triangle that is read as a lower one."
@inline steps(is_lower::Bool, lda::Int) = is_lower ? (1, lda) : (lda, 1)

"Solves with a lower triangle (`backward`: with its transpose)."
@inline function solve!(A::P{T}, r::Int, c::Int, n::Int, unit::Bool, backward::Bool, x::P{T}, inc::Int) where {T}
    for step in 0:(n - 1)
        i = backward ? n - 1 - step : step
        s = get(x, i * inc)
        first, last = backward ? (i + 1, n - 1) : (0, i - 1)
        for k in first:last
            s -= (backward ? get(A, k * r + i * c) : get(A, i * r + k * c)) * get(x, k * inc)
        end
        set!(x, unit ? s : s / get(A, i * (r + c)), i * inc)
    end
end

"Multiplies by a lower triangle (`backward`: by its transpose)."
@inline function multiply!(A::P{T}, r::Int, c::Int, n::Int, unit::Bool, backward::Bool, x::P{T}, inc::Int) where {T}
    for step in 0:(n - 1)
        i = backward ? step : n - 1 - step
        s = unit ? get(x, i * inc) : get(A, i * (r + c)) * get(x, i * inc)
        first, last = backward ? (i + 1, n - 1) : (0, i - 1)
        for k in first:last
            s += (backward ? get(A, k * r + i * c) : get(A, i * r + k * c)) * get(x, k * inc)
        end
        set!(x, s, i * inc)
    end
end

function trsv(uplo_::P{UInt8}, trans_::P{UInt8}, diag_::P{UInt8}, n_::I, A::P{T}, lda_::I, x::P{T}, incx_::I) where {T}
    n, inc, lower = unsafe_load(n_), unsafe_load(incx_), unsafe_load(uplo_) == LOWER
    r, c = steps(lower, unsafe_load(lda_))
    solve!(A, r, c, n, unsafe_load(diag_) == UNIT, lower != is_plain(unsafe_load(trans_)), start(x, n, inc), inc)
end

function trmv(uplo_::P{UInt8}, trans_::P{UInt8}, diag_::P{UInt8}, n_::I, A::P{T}, lda_::I, x::P{T}, incx_::I) where {T}
    n, inc, lower = unsafe_load(n_), unsafe_load(incx_), unsafe_load(uplo_) == LOWER
    r, c = steps(lower, unsafe_load(lda_))
    multiply!(A, r, c, n, unsafe_load(diag_) == UNIT, lower != is_plain(unsafe_load(trans_)), start(x, n, inc), inc)
end

function symv(uplo_::P{UInt8}, n_::I, alpha_::P{T}, A::P{T}, lda_::I, x::P{T}, incx_::I, beta_::P{T}, y::P{T}, incy_::I) where {T}
    n, incx, incy, alpha = unsafe_load(n_), unsafe_load(incx_), unsafe_load(incy_), unsafe_load(alpha_)
    r, c = steps(unsafe_load(uplo_) == LOWER, unsafe_load(lda_))
    x, y = start(x, n, incx), start(y, n, incy)
    scale(y, n, incy, unsafe_load(beta_))
    for i in 0:(n - 1)
        s = zero(T)
        for k in 0:(n - 1)
            s += get(A, max(i, k) * r + min(i, k) * c) * get(x, k * incx)
        end
        set!(y, get(y, i * incy) + alpha * s, i * incy)
    end
end

function symm(side_::P{UInt8}, uplo_::P{UInt8}, m_::I, n_::I, alpha_::P{T}, A::P{T}, lda_::I, B::P{T}, ldb_::I, beta_::P{T}, C::P{T}, ldc_::I) where {T}
    left, m, n, ldb, ldc = unsafe_load(side_) == LEFT, unsafe_load(m_), unsafe_load(n_), unsafe_load(ldb_), unsafe_load(ldc_)
    alpha, beta = unsafe_load(alpha_), unsafe_load(beta_)
    r, c = steps(unsafe_load(uplo_) == LOWER, unsafe_load(lda_))
    for j in 0:(n - 1)
        column = C + j * ldc * sizeof(T)
        scale(column, m, 1, beta)
        for i in 0:(m - 1)
            s = zero(T)
            for k in 0:((left ? m : n) - 1)
                a = left ? get(A, max(i, k) * r + min(i, k) * c) : get(A, max(j, k) * r + min(j, k) * c)
                s += a * (left ? get(B, k + j * ldb) : get(B, i + k * ldb))
            end
            set!(column, get(column, i) + alpha * s, i)
        end
    end
end

function ger(m_::I, n_::I, alpha_::P{T}, x::P{T}, incx_::I, y::P{T}, incy_::I, A::P{T}, lda_::I) where {T}
    m, n, incx, incy, lda, alpha = unsafe_load(m_), unsafe_load(n_), unsafe_load(incx_), unsafe_load(incy_), unsafe_load(lda_), unsafe_load(alpha_)
    x, y = start(x, m, incx), start(y, n, incy)
    for j in 0:(n - 1), i in 0:(m - 1)
        set!(A, get(A, i + j * lda) + alpha * get(x, i * incx) * get(y, j * incy), i + j * lda)
    end
end

# ---- LU ----

"What LAPACK says of the rows to exchange, found in a copy. Without derivative; all that is passed on is plain memory, which nothing has to root."
@noinline function pivots(m::Int, n::Int, A::P{T}, lda::Int, ipiv::I, info::I) where {T}
    sizes = I(Libc.malloc(3 * 8 + max(m * n, 1) * sizeof(T)))
    unsafe_store!(sizes, m, 1)
    unsafe_store!(sizes, n, 2)
    unsafe_store!(sizes, max(m, 1), 3)
    copy = P{T}(sizes + 3 * 8)
    for j in 0:(n - 1), i in 0:(m - 1)
        unsafe_store!(copy, unsafe_load(A, i + j * lda + 1), i + j * m + 1)
    end
    lu!(sizes, sizes + 8, copy, sizes + 16, ipiv, info)
    Libc.free(sizes)
    nothing
end
lu!(m::I, n::I, A::P{Float64}, lda::I, ipiv::I, info::I) = ccall((:dgetrf_64_, LinearAlgebra.LAPACK.liblapack), Cvoid, (I, I, P{Float64}, I, I, I), m, n, A, lda, ipiv, info)
lu!(m::I, n::I, A::P{Float32}, lda::I, ipiv::I, info::I) = ccall((:sgetrf_64_, LinearAlgebra.LAPACK.liblapack), Cvoid, (I, I, P{Float32}, I, I, I), m, n, A, lda, ipiv, info)

"Exchanges rows as LAPACK numbers them, from the first on or from the last."
@inline function exchange!(B::P{T}, columns::Int, ldb::Int, ipiv::I, count::Int, backward::Bool) where {T}
    for step in 0:(count - 1)
        i = backward ? count - 1 - step : step
        p = unsafe_load(ipiv, i + 1) - 1
        if p != i
            for j in 0:(columns - 1)
                a, b = get(B, i + j * ldb), get(B, p + j * ldb)
                set!(B, b, i + j * ldb)
                set!(B, a, p + j * ldb)
            end
        end
    end
end

function getrf(m_::I, n_::I, A::P{T}, lda_::I, ipiv::I, info::I) where {T}
    m, n, lda = unsafe_load(m_), unsafe_load(n_), unsafe_load(lda_)
    pivots(m, n, A, lda, ipiv, info)
    exchange!(A, n, lda, ipiv, min(m, n), false)
    for j in 0:(n - 1), i in 0:(m - 1)
        s = get(A, i + j * lda)
        for k in 0:(min(i, j) - 1)
            s -= get(A, i + k * lda) * get(A, k + j * lda)
        end
        if i > j
            pivot = get(A, j + j * lda)
            s = pivot == 0 ? s : s / pivot
        end
        set!(A, s, i + j * lda)
    end
end

function getrs(trans_::P{UInt8}, n_::I, columns_::I, A::P{T}, lda_::I, ipiv::I, B::P{T}, ldb_::I, info::I) where {T}
    n, columns, lda, ldb, plain = unsafe_load(n_), unsafe_load(columns_), unsafe_load(lda_), unsafe_load(ldb_), is_plain(unsafe_load(trans_))
    unsafe_store!(info, 0)
    if plain
        exchange!(B, columns, ldb, ipiv, n, false)
    end
    for j in 0:(columns - 1)
        x = B + j * ldb * sizeof(T)
        if plain
            solve!(A, 1, lda, n, true, false, x, 1)
            solve!(A, lda, 1, n, false, true, x, 1)
        else
            solve!(A, lda, 1, n, false, false, x, 1)
            solve!(A, 1, lda, n, true, true, x, 1)
        end
    end
    if !plain
        exchange!(B, columns, ldb, ipiv, n, true)
    end
end

"A lower triangle by its inverse."
@inline function invert!(A::P{T}, r::Int, c::Int, n::Int, unit::Bool) where {T}
    for j in (n - 1):-1:0
        a = one(T)
        if !unit
            a = one(T) / get(A, j * (r + c))
            set!(A, a, j * (r + c))
        end
        for i in (n - 1):-1:(j + 1)
            s = unit ? get(A, i * r + j * c) : get(A, i * (r + c)) * get(A, i * r + j * c)
            for k in (j + 1):(i - 1)
                s += get(A, i * r + k * c) * get(A, k * r + j * c)
            end
            set!(A, -a * s, i * r + j * c)
        end
    end
end

"The number of the first zero on the diagonal, from one on; zero if there is none."
@inline function singular(A::P{T}, lda::Int, n::Int) where {T}
    for i in 0:(n - 1)
        get(A, i * (lda + 1)) == 0 && return i + 1
    end
    0
end

function trtri(uplo_::P{UInt8}, diag_::P{UInt8}, n_::I, A::P{T}, lda_::I, info::I) where {T}
    n, lda, unit = unsafe_load(n_), unsafe_load(lda_), unsafe_load(diag_) == UNIT
    bad = unit ? 0 : singular(A, lda, n)
    unsafe_store!(info, bad)
    bad == 0 || return
    r, c = steps(unsafe_load(uplo_) == LOWER, lda)
    invert!(A, r, c, n, unit)
end

function trtrs(uplo_::P{UInt8}, trans_::P{UInt8}, diag_::P{UInt8}, n_::I, columns_::I, A::P{T}, lda_::I, B::P{T}, ldb_::I, info::I) where {T}
    n, columns, lda, ldb, unit = unsafe_load(n_), unsafe_load(columns_), unsafe_load(lda_), unsafe_load(ldb_), unsafe_load(diag_) == UNIT
    bad = unit ? 0 : singular(A, lda, n)
    unsafe_store!(info, bad)
    bad == 0 || return
    lower = unsafe_load(uplo_) == LOWER
    r, c = steps(lower, lda)
    for j in 0:(columns - 1)
        solve!(A, r, c, n, unit, lower != is_plain(unsafe_load(trans_)), B + j * ldb * sizeof(T), 1)
    end
end

function getri(n_::I, A::P{T}, lda_::I, ipiv::I, work::P{T}, size_::I, info::I) where {T}
    n, lda = unsafe_load(n_), unsafe_load(lda_)
    if unsafe_load(size_) == -1
        unsafe_store!(info, 0)
        set!(work, T(max(n, 1)), 0)
        return
    end
    bad = singular(A, lda, n)
    unsafe_store!(info, bad)
    bad == 0 || return
    invert!(A, lda, 1, n, false)
    for j in (n - 2):-1:0
        for i in (j + 1):(n - 1)
            set!(work, get(A, i + j * lda), i)
            set!(A, zero(T), i + j * lda)
        end
        for i in 0:(n - 1)
            s = get(A, i + j * lda)
            for k in (j + 1):(n - 1)
                s -= get(A, i + k * lda) * get(work, k)
            end
            set!(A, s, i + j * lda)
        end
    end
    for j in (n - 2):-1:0
        p = unsafe_load(ipiv, j + 1) - 1
        if p != j
            for i in 0:(n - 1)
                a, b = get(A, i + j * lda), get(A, i + p * lda)
                set!(A, b, i + j * lda)
                set!(A, a, i + p * lda)
            end
        end
    end
end

# ---- Cholesky ----

function potrf(uplo_::P{UInt8}, n_::I, A::P{T}, lda_::I, info::I) where {T}
    n = unsafe_load(n_)
    r, c = steps(unsafe_load(uplo_) == LOWER, unsafe_load(lda_))
    unsafe_store!(info, 0)
    for j in 0:(n - 1)
        s = get(A, j * (r + c))
        for k in 0:(j - 1)
            s -= get(A, j * r + k * c) * get(A, j * r + k * c)
        end
        if !(s > 0)
            unsafe_store!(info, j + 1)
            return
        end
        pivot = Base.sqrt_llvm(s)
        set!(A, pivot, j * (r + c))
        for i in (j + 1):(n - 1)
            s = get(A, i * r + j * c)
            for k in 0:(j - 1)
                s -= get(A, i * r + k * c) * get(A, j * r + k * c)
            end
            set!(A, s / pivot, i * r + j * c)
        end
    end
end

function potrs(uplo_::P{UInt8}, n_::I, columns_::I, A::P{T}, lda_::I, B::P{T}, ldb_::I, info::I) where {T}
    n, columns, ldb = unsafe_load(n_), unsafe_load(columns_), unsafe_load(ldb_)
    r, c = steps(unsafe_load(uplo_) == LOWER, unsafe_load(lda_))
    unsafe_store!(info, 0)
    for j in 0:(columns - 1)
        solve!(A, r, c, n, false, false, B + j * ldb * sizeof(T), 1)
        solve!(A, r, c, n, false, true, B + j * ldb * sizeof(T), 1)
    end
end

function potri(uplo_::P{UInt8}, n_::I, A::P{T}, lda_::I, info::I) where {T}
    n, lda = unsafe_load(n_), unsafe_load(lda_)
    bad = singular(A, lda, n)
    unsafe_store!(info, bad)
    bad == 0 || return
    r, c = steps(unsafe_load(uplo_) == LOWER, lda)
    invert!(A, r, c, n, false)
    # The product of the transpose with it.
    for i in 0:(n - 1), j in 0:i
        s = zero(T)
        for k in i:(n - 1)
            s += get(A, k * r + i * c) * get(A, k * r + j * c)
        end
        set!(A, s, i * r + j * c)
    end
end

const C8 = P{UInt8}
for (letter, T) in (("d", Float64), ("s", Float32))
    V = P{T}
    for (name, model, types) in Any[("trsv", trsv, (C8, C8, C8, I, V, I, V, I)), ("trmv", trmv, (C8, C8, C8, I, V, I, V, I)),
        ("symv", symv, (C8, I, V, V, I, V, I, V, V, I)), ("symm", symm, (C8, C8, I, I, V, V, I, V, I, V, V, I)), ("ger", ger, (I, I, V, V, I, V, I, V, I)),
        ("getrf", getrf, (I, I, V, I, I, I)), ("getrs", getrs, (C8, I, I, V, I, I, V, I, I)), ("getri", getri, (I, V, I, I, V, I, I)),
        ("trtri", trtri, (C8, C8, I, V, I, I)), ("trtrs", trtrs, (C8, C8, C8, I, I, V, I, V, I, I)),
        ("potrf", potrf, (C8, I, V, I, I)), ("potrs", potrs, (C8, I, I, V, I, V, I, I)), ("potri", potri, (C8, I, V, I, I))]
        BLAS["$(letter)$(name)_64_"] = (model, types)
    end
end

"Functions that these models call, of which no derivative flows."
inactive_parts(types) = [Tuple{typeof(pivots),Int,Int,P{T},Int,I,I} for T in (Float64, Float32) if P{T} in types]
