# QR, eigenvalues of symmetric matrices and singular values in the place of LAPACK (part of `Models`).
#
# QR is done by reflections, one after the other. What LAPACK finds by iteration it finds here as well, in a copy without derivative: the columns that QR
# exchanges, and a first basis of vectors. From this basis two sweeps of rotations, which are as good as identities, make vectors and values anew:
# each rotation solves its equation, so first and second derivatives are right, and values and signs are LAPACK's. All indices count from zero.
#
# Where two eigenvalues or singular values coincide, or a singular value is zero, their vectors have no derivative: one that is not zero comes out as
# infinite or NaN. Values by themselves go on. A column that is zero below the diagonal is reflected as its neighbours are, LAPACK leaves it: the signs of its row in R differ.
#
# Not handled: what `full = true` adds to the vectors of matrices that are not square (an error), complex matrices, matrices that are not symmetric.

const ALL, VALUES, VECTORS, SMALL, TRANSPOSED = UInt8('A'), UInt8('N'), UInt8('V'), UInt8('S'), UInt8('T')

# ---- QR ----

"Makes a column zero below the diagonal by a reflection, which is left there, and applies it to the columns behind. Its factor."
@inline function reflect_column!(A::P{T}, lda::Int, m::Int, n::Int, k::Int) where {T}
    a, s = get(A, k * (lda + 1)), zero(T)
    for i in (k + 1):(m - 1)
        s += get(A, i + k * lda) * get(A, i + k * lda)
    end
    (k == m - 1 || (s == 0 && a == 0)) && return zero(T)
    length = Base.sqrt_llvm(a * a + s)
    b = a < 0 ? length : -length
    tau = (b - a) / b
    set!(A, b, k * (lda + 1))
    for i in (k + 1):(m - 1)
        set!(A, get(A, i + k * lda) / (a - b), i + k * lda)
    end
    for j in (k + 1):(n - 1)
        reflect!(A + (k + k * lda) * sizeof(T), 1, m - k, tau, A + (k + j * lda) * sizeof(T), 1)
    end
    tau
end

"Applies a reflection to a vector: its own begins with one, which is not stored."
@inline function reflect!(v::P{T}, incv::Int, n::Int, tau::T, x::P{T}, inc::Int) where {T}
    s = get(x, 0)
    for i in 1:(n - 1)
        s += get(v, i * incv) * get(x, i * inc)
    end
    s *= tau
    set!(x, get(x, 0) - s, 0)
    for i in 1:(n - 1)
        set!(x, get(x, i * inc) - s * get(v, i * incv), i * inc)
    end
end

function geqrt(m_::I, n_::I, nb_::I, A::P{T}, lda_::I, F::P{T}, ldf_::I, work::P{T}, info::I) where {T}
    m, n, nb, lda, ldf = unsafe_load(m_), unsafe_load(n_), unsafe_load(nb_), unsafe_load(lda_), unsafe_load(ldf_)
    unsafe_store!(info, 0)
    for k in 0:(min(m, n) - 1)
        tau = reflect_column!(A, lda, m, n, k)
        # The triangle by which LAPACK applies the reflections of a block at once.
        first = div(k, nb) * nb
        for j in first:(k - 1)
            s = get(A, k + j * lda)
            for i in (k + 1):(m - 1)
                s += get(A, i + j * lda) * get(A, i + k * lda)
            end
            set!(F, -tau * s, (j - first) + k * ldf)
        end
        multiply!(F + first * ldf * sizeof(T), ldf, 1, k - first, false, true, F + k * ldf * sizeof(T), 1)
        set!(F, tau, (k - first) + k * ldf)
    end
end

"What LAPACK says of the columns to exchange, found in a copy. Without derivative."
@noinline function exchanged(m::Int, n::Int, A::P{T}, lda::Int, jpvt::I, info::I) where {T}
    memory = I(Libc.malloc(4 * 8 + (m * n + n + 2) * sizeof(T)))
    copy = P{T}(memory + 4 * 8)
    tau = copy + m * n * sizeof(T)
    work = tau + n * sizeof(T)
    gather!(copy, m, n, A, lda)
    for (i, number) in enumerate((m, n, max(m, 1), -1))
        unsafe_store!(memory, number, i)
    end
    pivoted!(memory, memory + 8, copy, memory + 16, jpvt, tau, work, memory + 24, info)
    size = max(Int(ceil(unsafe_load(work))), 3 * n + 1)
    unsafe_store!(memory, size, 4)
    work = P{T}(Libc.malloc(size * sizeof(T)))
    pivoted!(memory, memory + 8, copy, memory + 16, jpvt, tau, work, memory + 24, info)
    Libc.free(work)
    Libc.free(memory)
    nothing
end

@inline function gather!(to::P{T}, m::Int, n::Int, A::P{T}, lda::Int) where {T}
    for j in 0:(n - 1), i in 0:(m - 1)
        set!(to, get(A, i + j * lda), i + j * m)
    end
end

"Whether only the size of its work is asked for, which is then a little."
@inline function asks!(work::P{T}, size_::I, info::I) where {T}
    unsafe_store!(info, 0)
    asked = unsafe_load(size_) == -1
    asked && set!(work, one(T), 0)
    asked
end

function geqp3(m_::I, n_::I, A::P{T}, lda_::I, jpvt::I, tau::P{T}, work::P{T}, size_::I, info::I) where {T}
    m, n, lda = unsafe_load(m_), unsafe_load(n_), unsafe_load(lda_)
    asks!(work, size_, info) && return
    exchanged(m, n, A, lda, jpvt, info)
    # Cycles of the permutation; numbers of columns that are done are negative meanwhile.
    for j in 0:(n - 1)
        k = j
        while unsafe_load(jpvt, k + 1) > 0
            next = unsafe_load(jpvt, k + 1) - 1
            unsafe_store!(jpvt, -next - 1, k + 1)
            next == j && break
            for i in 0:(m - 1)
                exchange!(A, i + k * lda, i + next * lda)
            end
            k = next
        end
    end
    for j in 0:(n - 1)
        unsafe_store!(jpvt, -unsafe_load(jpvt, j + 1), j + 1)
    end
    for k in 0:(min(m, n) - 1)
        set!(tau, reflect_column!(A, lda, m, n, k), k)
    end
end

"Multiplies by the product of `k` reflections, or its transpose, from the left or from the right; factors stand in blocks of `nb`."
@inline function reflections!(side_::C8, trans_::C8, m_::I, n_::I, k_::I, nb::Int, V::P{T}, ldv_::I, F::P{T}, ldf::Int, C::P{T}, ldc_::I) where {T}
    left, plain, m, n, k = unsafe_load(side_) == LEFT, is_plain(unsafe_load(trans_)), unsafe_load(m_), unsafe_load(n_), unsafe_load(k_)
    ldv, ldc = unsafe_load(ldv_), unsafe_load(ldc_)
    for step in 0:(k - 1)
        i = left == plain ? k - 1 - step : step
        tau, v = get(F, i % nb + i * ldf), V + (i + i * ldv) * sizeof(T)
        for j in 0:((left ? n : m) - 1)
            reflect!(v, 1, (left ? m : n) - i, tau, C + (left ? i + j * ldc : j + i * ldc) * sizeof(T), left ? 1 : ldc)
        end
    end
end

function gemqrt(side_::C8, trans_::C8, m_::I, n_::I, k_::I, nb_::I, V::P{T}, ldv_::I, F::P{T}, ldf_::I, C::P{T}, ldc_::I, work::P{T}, info::I) where {T}
    unsafe_store!(info, 0)
    reflections!(side_, trans_, m_, n_, k_, unsafe_load(nb_), V, ldv_, F, unsafe_load(ldf_), C, ldc_)
end

function ormqr(side_::C8, trans_::C8, m_::I, n_::I, k_::I, A::P{T}, lda_::I, tau::P{T}, C::P{T}, ldc_::I, work::P{T}, size_::I, info::I) where {T}
    asks!(work, size_, info) || reflections!(side_, trans_, m_, n_, k_, 1, A, lda_, tau, 1, C, ldc_)
    nothing
end

# ---- rotations ----

"""
The tangent of the angle by which two directions are turned that have `a` and `b` on the diagonal and `c` beside it, and whether there is one: not
where both are as good as equal and `c` is none.
"""
@inline function tangent(a::T, b::T, c::T, least::T) where {T}
    d = b - a
    square = d * d + 4 * c * c
    square <= least * least && return zero(T), false
    length = Base.sqrt_llvm(square)
    2 * c / (d < 0 ? d - length : d + length), true
end

"Turns two vectors."
@inline function turn!(x::P{T}, y::P{T}, n::Int, inc::Int, cosine::T, sine::T) where {T}
    for i in 0:(n - 1)
        a, b = get(x, i * inc), get(y, i * inc)
        set!(x, cosine * a - sine * b, i * inc)
        set!(y, sine * a + cosine * b, i * inc)
    end
end

# Zero, with a derivative that has no bound where `x` has one.
@inline unbounded(x::T) where {T} = slope(x) * floatmax(T) * floatmax(T)

"Two vectors of which only the plane is known."
@inline function blur!(x::P{T}, y::P{T}, n::Int, c::T) where {T}
    zero = unbounded(c)
    for i in 0:(n - 1)
        a, b = get(x, i), get(y, i)
        set!(x, a - zero * b, i)
        set!(y, b + zero * a, i)
    end
end

# ---- eigenvalues ----

"The vectors that LAPACK finds, and the largest value: without derivative."
@noinline function eigenvectors(n::Int, uplo::UInt8, A::P{T}, lda::Int, V::P{T}, info::I) where {T}
    # Sizes, place of the count, places of the vectors' parts; a copy, values, a number that is not used.
    memory = I(Libc.malloc((8 + 2 * n) * 8 + (n * n + n + 2) * sizeof(T)))
    copy = P{T}(memory + (8 + 2 * n) * 8)
    values = copy + n * n * sizeof(T)
    number = values + n * sizeof(T)
    gather!(copy, n, n, A, lda)
    letters = C8(memory + 5 * 8)
    for (i, letter) in enumerate((VECTORS, ALL, uplo))
        unsafe_store!(letters, letter, i)
    end
    unsafe_store!(memory, n, 1)
    unsafe_store!(memory, max(n, 1), 2)
    unsafe_store!(memory, -1, 3)
    unsafe_store!(memory, -1, 4)
    unsafe_store!(number, -one(T))
    work, counts = number + sizeof(T), memory + 7 * 8
    symmetric!(letters, letters + 1, letters + 2, memory, copy, memory + 8, number, number, memory, memory, number, memory + 6 * 8, values, V, memory + 8,
        memory + 8 * 8, work, memory + 16, counts, memory + 24, info)
    size, count = Int(ceil(unsafe_load(work))), unsafe_load(counts)
    unsafe_store!(memory, size, 3)
    unsafe_store!(memory, count, 4)
    work, counts = P{T}(Libc.malloc(size * sizeof(T))), I(Libc.malloc(count * 8))
    symmetric!(letters, letters + 1, letters + 2, memory, copy, memory + 8, number, number, memory, memory, number, memory + 6 * 8, values, V, memory + 8,
        memory + 8 * 8, work, memory + 16, counts, memory + 24, info)
    least = n == 0 ? zero(T) : 8 * n * eps(T) * max(abs(get(values, 0)), abs(get(values, n - 1)))
    Libc.free(work)
    Libc.free(counts)
    Libc.free(memory)
    least
end

function syevr(jobz_::C8, range_::C8, uplo_::C8, n_::I, A::P{T}, lda_::I, vl_::P{T}, vu_::P{T}, il_::I, iu_::I, abstol_::P{T}, count::I, w::P{T}, Z::P{T}, ldz_::I,
    isuppz::I, work::P{T}, size_::I, iwork::I, isize_::I, info::I) where {T}
    n, lda, ldz, uplo, range, wanted = unsafe_load(n_), unsafe_load(lda_), unsafe_load(ldz_), unsafe_load(uplo_), unsafe_load(range_), unsafe_load(jobz_) == VECTORS
    if asks!(work, size_, info)
        unsafe_store!(iwork, 1)
        return
    end
    V = P{T}(Libc.malloc((2 * n + 1) * n * sizeof(T)))
    B, x = V + n * n * sizeof(T), V + 2 * n * n * sizeof(T)
    least = eigenvectors(n, uplo, A, lda, V, info)
    if unsafe_load(info) == 0
        r, c = steps(uplo == LOWER, lda)
        for j in 0:(n - 1)
            for i in 0:(n - 1)
                s = zero(T)
                for k in 0:(n - 1)
                    s += get(A, max(i, k) * r + min(i, k) * c) * get(V, k + j * n)
                end
                set!(x, s, i)
            end
            for i in 0:(n - 1)
                s = zero(T)
                for k in 0:(n - 1)
                    s += get(V, k + i * n) * get(x, k)
                end
                set!(B, s, i + j * n)
            end
        end
        for sweep in 1:2, q in 1:(n - 1), p in 0:(q - 1)
            between = (get(B, p + q * n) + get(B, q + p * n)) / 2
            t, there = tangent(get(B, p * (n + 1)), get(B, q * (n + 1)), between, least)
            if there
                cosine = 1 / Base.sqrt_llvm(1 + t * t)
                sine = t * cosine
                turn!(B + p * sizeof(T), B + q * sizeof(T), n, n, cosine, sine)
                turn!(B + p * n * sizeof(T), B + q * n * sizeof(T), n, 1, cosine, sine)
                turn!(V + p * n * sizeof(T), V + q * n * sizeof(T), n, 1, cosine, sine)
            elseif sweep == 2
                blur!(V + p * n * sizeof(T), V + q * n * sizeof(T), n, between)
            end
        end
        found = 0
        for j in 0:(n - 1)
            value = get(B, j * (n + 1))
            range == ALL || (range == VECTORS ? unsafe_load(vl_) < value <= unsafe_load(vu_) : unsafe_load(il_) <= j + 1 <= unsafe_load(iu_)) || continue
            set!(w, value, found)
            if wanted
                for i in 0:(n - 1)
                    set!(Z, carried(get(V, i + j * n)), i + found * ldz)
                end
            end
            found += 1
        end
        unsafe_store!(count, found)
    end
    Libc.free(V)
    nothing
end

# ---- singular values ----

"""
The singular vectors that LAPACK finds, left (m by k) and right (k by n), k being the smaller of both; what is as good as zero beside the largest value. Without derivative.
"""
@noinline function singular_vectors(m::Int, n::Int, A::P{T}, lda::Int, U::P{T}, V::P{T}, info::I) where {T}
    k = min(m, n)
    memory = I(Libc.malloc((6 + 8 * k) * 8 + (m * n + k + 2) * sizeof(T)))
    copy = P{T}(memory + (6 + 8 * k) * 8)
    values = copy + m * n * sizeof(T)
    work = values + k * sizeof(T)
    gather!(copy, m, n, A, lda)
    for (i, number) in enumerate((m, n, max(m, 1), max(k, 1), -1))
        unsafe_store!(memory, number, i)
    end
    letter = C8(memory + 5 * 8)
    unsafe_store!(letter, SMALL)
    divided!(letter, memory, memory + 8, copy, memory + 16, values, U, memory + 16, V, memory + 24, work, memory + 32, memory + 6 * 8, info)
    size = Int(ceil(nextfloat(unsafe_load(work))))
    unsafe_store!(memory, size, 5)
    work = P{T}(Libc.malloc(size * sizeof(T)))
    divided!(letter, memory, memory + 8, copy, memory + 16, values, U, memory + 16, V, memory + 24, work, memory + 32, memory + 6 * 8, info)
    least = k == 0 ? zero(T) : 8 * max(m, n) * eps(T) * get(values, 0)
    Libc.free(work)
    Libc.free(memory)
    least
end

function gesdd(job_::C8, m_::I, n_::I, A::P{T}, lda_::I, S::P{T}, U::P{T}, ldu_::I, V::P{T}, ldv_::I, work::P{T}, size_::I, iwork::I, info::I) where {T}
    job, m, n, lda, ldu, ldv = unsafe_load(job_), unsafe_load(m_), unsafe_load(n_), unsafe_load(lda_), unsafe_load(ldu_), unsafe_load(ldv_)
    asks!(work, size_, info) && return
    (job == VALUES || job == SMALL || (job == ALL && m == n)) ||
        throw(ArgumentError("Enzyme: the vectors that svd(A; full = true) adds are not unique and have no derivative"))
    # Rows and columns of the matrix that is at least as high as wide: A or its transpose.
    tall = m >= n
    rows, k, r, c = tall ? (m, n, 1, lda) : (n, m, lda, 1)
    memory = P{T}(Libc.malloc((2 * rows * k + 2 * k * k) * sizeof(T)))
    L, W, G, M = memory, memory + rows * k * sizeof(T), memory + (rows * k + k * k) * sizeof(T), memory + (2 * rows * k + k * k) * sizeof(T)
    # Of the transpose, what is left of A is right, and the other way round.
    least = tall ? singular_vectors(m, n, A, lda, L, M, info) : singular_vectors(m, n, A, lda, M, L, info)
    if unsafe_load(info) == 0
        for j in 0:(k - 1), i in 0:(k - 1)
            set!(W, carried(get(M, tall ? j + i * k : i + j * k)), i + j * k)
        end
        for j in 0:(k - 1), i in 0:(rows - 1)
            s = zero(T)
            for l in 0:(k - 1)
                s += get(A, i * r + l * c) * get(W, l + j * k)
            end
            set!(G, s, i + j * rows)
        end
        for sweep in 1:2, q in 1:(k - 1), p in 0:(q - 1)
            x, y = G + p * rows * sizeof(T), G + q * rows * sizeof(T)
            a, b, between = inner(x, x, rows), inner(y, y, rows), inner(x, y, rows)
            t, there = tangent(a, b, between, least * Base.sqrt_llvm(constant(a) + constant(b)))
            if there
                cosine = 1 / Base.sqrt_llvm(1 + t * t)
                turn!(x, y, rows, 1, cosine, t * cosine)
                turn!(W + p * k * sizeof(T), W + q * k * sizeof(T), k, 1, cosine, t * cosine)
            elseif sweep == 2
                blur!(W + p * k * sizeof(T), W + q * k * sizeof(T), k, between)
            end
        end
        for j in 0:(k - 1)
            x = G + j * rows * sizeof(T)
            square = inner(x, x, rows)
            vanishes = square <= least * least
            value = zero(T)
            if vanishes
                for i in 0:(rows - 1)
                    value += get(L, tall ? i + j * rows : j + i * k) * get(x, i)
                end
            else
                value = Base.sqrt_llvm(square)
            end
            set!(S, value, j)
            job == VALUES && continue
            for i in 0:(rows - 1)
                entry = vanishes ? get(L, tall ? i + j * rows : j + i * k) + unbounded(get(x, i)) : get(x, i) / value
                tall ? set!(U, entry, i + j * ldu) : set!(V, entry, j + i * ldv)
            end
            for i in 0:(k - 1)
                entry = carried(get(W, i + j * k))
                tall ? set!(V, entry, j + i * ldv) : set!(U, entry, i + j * ldu)
            end
        end
    end
    Libc.free(memory)
    nothing
end

@inline function inner(x::P{T}, y::P{T}, n::Int) where {T}
    s = zero(T)
    for i in 0:(n - 1)
        s += get(x, i) * get(y, i)
    end
    s
end

for (letter, T) in (("d", Float64), ("s", Float32))
    V = P{T}
    for (name, own, types) in Any[("geqp3", :pivoted!, (I, I, V, I, I, V, V, I, I)),
        ("syevr", :symmetric!, (C8, C8, C8, I, V, I, V, V, I, I, V, I, V, V, I, I, V, I, I, I, I)), ("gesdd", :divided!, (C8, I, I, V, I, V, V, I, V, I, V, I, I, I))]
        parameters = [Symbol("x", n) for n in 1:length(types)]
        @eval @inline $own($((:($x::$t) for (x, t) in zip(parameters, types))...)) =
            ccall(($(QuoteNode(Symbol(letter, name, "_64_"))), LinearAlgebra.LAPACK.liblapack), Cvoid, ($(types...),), $(parameters...))
    end
    for (name, model, types) in Any[("geqrt", geqrt, (I, I, I, V, I, V, I, V, I)), ("gemqrt", gemqrt, (C8, C8, I, I, I, I, V, I, V, I, V, I, V, I)),
        ("geqp3", geqp3, (I, I, V, I, I, V, V, I, I)), ("ormqr", ormqr, (C8, C8, I, I, I, V, I, V, V, I, V, I, I)),
        ("syevr", syevr, (C8, C8, C8, I, V, I, V, V, I, I, V, I, V, V, I, I, V, I, I, I, I)), ("gesdd", gesdd, (C8, I, I, V, I, V, V, I, V, I, V, I, I, I))]
        BLAS["$(letter)$(name)_64_"] = (model, types)
    end
end
