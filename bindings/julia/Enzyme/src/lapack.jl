# Factorisations and solves of LAPACK, and what of BLAS they are made of, as loops (part of `Models`).
#
# A triangle is read as a lower one of rows at distance `r` and columns at distance `c`: the upper triangle of A is the lower one of its transpose. Each entry
# of a factor is a sum that is stored once. The rows that LU exchanges are found by LAPACK itself, in a copy without derivative; they
# are then exchanged here before anything is eliminated. All indices count from zero.
#
# Not handled: factorisations of indefinite symmetric and of banded matrices; these are refused. QR, eigenvalues and singular values are in
# orthogonal.jl.

const C8 = P{UInt8}
const LOWER, UPPER, LEFT, UNIT = UInt8('L'), UInt8('U'), UInt8('L'), UInt8('U')
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

"Applies `f`, one of the two above, with a triangle of A to `count` vectors of B, `step` elements apart."
@inline function each!(f, uplo::UInt8, transposed::Bool, diag::UInt8, n::Int, A::P{T}, lda::Int, B::P{T}, inc::Int, count::Int, step::Int) where {T}
    lower = uplo == LOWER
    r, c = steps(lower, lda)
    for j in 0:(count - 1)
        f(A, r, c, n, diag == UNIT, lower == transposed, B + j * step * sizeof(T), inc)
    end
end

@inline function vector!(f, uplo_::C8, trans_::C8, diag_::C8, n_::I, A::P{T}, lda_::I, x::P{T}, incx_::I) where {T}
    n, inc = unsafe_load(n_), unsafe_load(incx_)
    each!(f, unsafe_load(uplo_), !is_plain(unsafe_load(trans_)), unsafe_load(diag_), n, A, unsafe_load(lda_), start(x, n, inc), inc, 1, 0)
end
trsv(arguments...) = vector!(solve!, arguments...)
trmv(arguments...) = vector!(multiply!, arguments...)

"Columns of B with the triangle; from the right, rows of B with its transpose."
@inline function matrix!(f, side_::C8, uplo_::C8, trans_::C8, diag_::C8, m_::I, n_::I, alpha_::P{T}, A::P{T}, lda_::I, B::P{T}, ldb_::I) where {T}
    m, n, lda, ldb, alpha = unsafe_load(m_), unsafe_load(n_), unsafe_load(lda_), unsafe_load(ldb_), unsafe_load(alpha_)
    uplo, plain, diag = unsafe_load(uplo_), is_plain(unsafe_load(trans_)), unsafe_load(diag_)
    for j in 0:(n - 1)
        scale(B + j * ldb * sizeof(T), m, 1, alpha)
    end
    if unsafe_load(side_) == LEFT
        each!(f, uplo, !plain, diag, m, A, lda, B, 1, n, ldb)
    else
        each!(f, uplo, plain, diag, n, A, lda, B, ldb, m, 1)
    end
end
trsm(arguments...) = matrix!(solve!, arguments...)
trmm(arguments...) = matrix!(multiply!, arguments...)

function symv(uplo_::C8, n_::I, alpha_::P{T}, A::P{T}, lda_::I, x::P{T}, incx_::I, beta_::P{T}, y::P{T}, incy_::I) where {T}
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

function symm(side_::C8, uplo_::C8, m_::I, n_::I, alpha_::P{T}, A::P{T}, lda_::I, B::P{T}, ldb_::I, beta_::P{T}, C::P{T}, ldc_::I) where {T}
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
@inline lu!(m::I, n::I, A::P{Float64}, lda::I, ipiv::I, info::I) = ccall((:dgetrf_64_, LinearAlgebra.LAPACK.liblapack), Cvoid, (I, I, P{Float64}, I, I, I), m, n, A, lda, ipiv, info)
@inline lu!(m::I, n::I, A::P{Float32}, lda::I, ipiv::I, info::I) = ccall((:sgetrf_64_, LinearAlgebra.LAPACK.liblapack), Cvoid, (I, I, P{Float32}, I, I, I), m, n, A, lda, ipiv, info)

"Exchanges rows as LAPACK numbers them, from the first on or from the last."
@inline function exchange!(B::P{T}, columns::Int, ldb::Int, ipiv::I, count::Int, backward::Bool) where {T}
    for step in 0:(count - 1)
        i = backward ? count - 1 - step : step
        p = unsafe_load(ipiv, i + 1) - 1
        if p != i
            for j in 0:(columns - 1)
                exchange!(B, i + j * ldb, p + j * ldb)
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

"Solves with the factors of LU and the rows that it exchanged."
@inline function substitute!(plain::Bool, n::Int, columns::Int, A::P{T}, lda::Int, ipiv::I, B::P{T}, ldb::Int) where {T}
    if plain
        exchange!(B, columns, ldb, ipiv, n, false)
        each!(solve!, LOWER, false, UNIT, n, A, lda, B, 1, columns, ldb)
        each!(solve!, UPPER, false, N, n, A, lda, B, 1, columns, ldb)
    else
        each!(solve!, UPPER, true, N, n, A, lda, B, 1, columns, ldb)
        each!(solve!, LOWER, true, UNIT, n, A, lda, B, 1, columns, ldb)
        exchange!(B, columns, ldb, ipiv, n, true)
    end
end

function getrs(trans_::C8, n_::I, columns_::I, A::P{T}, lda_::I, ipiv::I, B::P{T}, ldb_::I, info::I) where {T}
    unsafe_store!(info, 0)
    substitute!(is_plain(unsafe_load(trans_)), unsafe_load(n_), unsafe_load(columns_), A, unsafe_load(lda_), ipiv, B, unsafe_load(ldb_))
end

function gesv(n_::I, columns_::I, A::P{T}, lda_::I, ipiv::I, B::P{T}, ldb_::I, info::I) where {T}
    getrf(n_, n_, A, lda_, ipiv, info)
    unsafe_load(info) == 0 && substitute!(true, unsafe_load(n_), unsafe_load(columns_), A, unsafe_load(lda_), ipiv, B, unsafe_load(ldb_))
    nothing
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

function trtri(uplo_::C8, diag_::C8, n_::I, A::P{T}, lda_::I, info::I) where {T}
    n, lda, unit = unsafe_load(n_), unsafe_load(lda_), unsafe_load(diag_) == UNIT
    bad = unit ? 0 : singular(A, lda, n)
    unsafe_store!(info, bad)
    bad == 0 || return
    r, c = steps(unsafe_load(uplo_) == LOWER, lda)
    invert!(A, r, c, n, unit)
end

function trtrs(uplo_::C8, trans_::C8, diag_::C8, n_::I, columns_::I, A::P{T}, lda_::I, B::P{T}, ldb_::I, info::I) where {T}
    n, columns, lda, ldb, diag = unsafe_load(n_), unsafe_load(columns_), unsafe_load(lda_), unsafe_load(ldb_), unsafe_load(diag_)
    bad = diag == UNIT ? 0 : singular(A, lda, n)
    unsafe_store!(info, bad)
    bad == 0 && each!(solve!, unsafe_load(uplo_), !is_plain(unsafe_load(trans_)), diag, n, A, lda, B, 1, columns, ldb)
    nothing
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
                exchange!(A, i + j * lda, i + p * lda)
            end
        end
    end
end

# ---- Cholesky ----

function potrf(uplo_::C8, n_::I, A::P{T}, lda_::I, info::I) where {T}
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

function potrs(uplo_::C8, n_::I, columns_::I, A::P{T}, lda_::I, B::P{T}, ldb_::I, info::I) where {T}
    n, columns, lda, ldb, uplo = unsafe_load(n_), unsafe_load(columns_), unsafe_load(lda_), unsafe_load(ldb_), unsafe_load(uplo_)
    unsafe_store!(info, 0)
    each!(solve!, uplo, uplo != LOWER, N, n, A, lda, B, 1, columns, ldb)
    each!(solve!, uplo, uplo == LOWER, N, n, A, lda, B, 1, columns, ldb)
end

function potri(uplo_::C8, n_::I, A::P{T}, lda_::I, info::I) where {T}
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

for (letter, T) in (("d", Float64), ("s", Float32))
    V = P{T}
    for (name, model, types) in Any[("trsv", trsv, (C8, C8, C8, I, V, I, V, I)), ("trmv", trmv, (C8, C8, C8, I, V, I, V, I)),
        ("trsm", trsm, (C8, C8, C8, C8, I, I, V, V, I, V, I)), ("trmm", trmm, (C8, C8, C8, C8, I, I, V, V, I, V, I)),
        ("symv", symv, (C8, I, V, V, I, V, I, V, V, I)), ("symm", symm, (C8, C8, I, I, V, V, I, V, I, V, V, I)), ("ger", ger, (I, I, V, V, I, V, I, V, I)),
        ("getrf", getrf, (I, I, V, I, I, I)), ("getrs", getrs, (C8, I, I, V, I, I, V, I, I)), ("gesv", gesv, (I, I, V, I, I, V, I, I)), ("getri", getri, (I, V, I, I, V, I, I)),
        ("trtri", trtri, (C8, C8, I, V, I, I)), ("trtrs", trtrs, (C8, C8, C8, I, I, V, I, V, I, I)),
        ("potrf", potrf, (C8, I, V, I, I)), ("potrs", potrs, (C8, I, I, V, I, V, I, I)), ("potri", potri, (C8, I, V, I, I))]
        BLAS["$(letter)$(name)_64_"] = (model, types)
    end
end
