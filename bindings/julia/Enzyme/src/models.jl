# Plain Julia in the place of what the engine could not look into: BLAS, by the names of its functions, and methods of Base that work on
# the bits of floats. Calls of these are made calls of the functions here: of methods before anything is
# optimised, of BLAS afterwards, since Julia's passes must see which objects a call of C keeps alive.
#
# BLAS takes all arguments by address, so strides, transposition and views are as they come. Sums are taken in another order than
# BLAS takes them: results agree to rounding. Not handled: factorisations and other functions that are not here; they are refused.

module Models

import LinearAlgebra
import ..LLVM, ..Emit, ..Normalise, ..seldom

const P{T} = Ptr{T}
const I = Ptr{Int64}

"Where the first element lies when a stride is negative."
start(x::P{T}, n::Int, inc::Int) where {T} = inc < 0 ? x + (1 - n) * inc * sizeof(T) : x

@inline get(x::P{T}, i::Int) where {T} = unsafe_load(x, i + 1)
@inline set!(x::P{T}, v::T, i::Int) where {T} = (unsafe_store!(x, v, i + 1); nothing)

function dot(n_::I, x::P{T}, incx_::I, y::P{T}, incy_::I) where {T}
    n, incx, incy = unsafe_load(n_), unsafe_load(incx_), unsafe_load(incy_)
    x, y = start(x, n, incx), start(y, n, incy)
    s = zero(T)
    for i in 0:(n - 1)
        s += get(x, i * incx) * get(y, i * incy)
    end
    s
end

function axpy(n_::I, a_::P{T}, x::P{T}, incx_::I, y::P{T}, incy_::I) where {T}
    n, a, incx, incy = unsafe_load(n_), unsafe_load(a_), unsafe_load(incx_), unsafe_load(incy_)
    x, y = start(x, n, incx), start(y, n, incy)
    for i in 0:(n - 1)
        set!(y, get(y, i * incy) + a * get(x, i * incx), i * incy)
    end
end

function scal(n_::I, a_::P{T}, x::P{T}, incx_::I) where {T}
    n, a, incx = unsafe_load(n_), unsafe_load(a_), unsafe_load(incx_)
    for i in 0:(n - 1)
        set!(x, a * get(x, i * incx), i * incx)
    end
end

function nrm2(n_::I, x::P{T}, incx_::I) where {T}
    n, incx = unsafe_load(n_), unsafe_load(incx_)
    s = zero(T)
    for i in 0:(n - 1)
        s += get(x, i * incx) * get(x, i * incx)
    end
    Base.sqrt_llvm(s)
end

function asum(n_::I, x::P{T}, incx_::I) where {T}
    n, incx = unsafe_load(n_), unsafe_load(incx_)
    s = zero(T)
    for i in 0:(n - 1)
        s += abs(get(x, i * incx))
    end
    s
end

@inline function scale(y::P{T}, n::Int, inc::Int, beta::T) where {T}
    for i in 0:(n - 1)
        set!(y, beta == 0 ? zero(T) : beta * get(y, i * inc), i * inc)
    end
end

const N, LOWER_N = UInt8('N'), UInt8('n')

function gemv(trans_::P{UInt8}, m_::I, n_::I, alpha_::P{T}, A::P{T}, lda_::I, x::P{T}, incx_::I, beta_::P{T}, y::P{T}, incy_::I) where {T}
    trans, m, n, lda, incx, incy = unsafe_load(trans_), unsafe_load(m_), unsafe_load(n_), unsafe_load(lda_), unsafe_load(incx_), unsafe_load(incy_)
    alpha, beta = unsafe_load(alpha_), unsafe_load(beta_)
    plain = (trans == N) | (trans == LOWER_N)
    x, y = start(x, plain ? n : m, incx), start(y, plain ? m : n, incy)
    scale(y, plain ? m : n, incy, beta)
    for j in 0:(n - 1)
        if plain
            t = alpha * get(x, j * incx)
            for i in 0:(m - 1)
                set!(y, get(y, i * incy) + t * get(A, i + j * lda), i * incy)
            end
        else
            s = zero(T)
            for i in 0:(m - 1)
                s += get(A, i + j * lda) * get(x, i * incx)
            end
            set!(y, get(y, j * incy) + alpha * s, j * incy)
        end
    end
end

function gemm(transA_::P{UInt8}, transB_::P{UInt8}, m_::I, n_::I, k_::I, alpha_::P{T}, A::P{T}, lda_::I, B::P{T}, ldb_::I, beta_::P{T}, C::P{T}, ldc_::I) where {T}
    transA, transB, m, n, k = unsafe_load(transA_), unsafe_load(transB_), unsafe_load(m_), unsafe_load(n_), unsafe_load(k_)
    lda, ldb, ldc, alpha, beta = unsafe_load(lda_), unsafe_load(ldb_), unsafe_load(ldc_), unsafe_load(alpha_), unsafe_load(beta_)
    plainA, plainB = (transA == N) | (transA == LOWER_N), (transB == N) | (transB == LOWER_N)
    # Strides of B along the sum and across.
    bl, bj = plainB ? (1, ldb) : (ldb, 1)
    for j in 0:(n - 1)
        column = C + j * ldc * sizeof(T)
        scale(column, m, 1, beta)
        if plainA
            for l in 0:(k - 1)
                t = alpha * get(B, l * bl + j * bj)
                for i in 0:(m - 1)
                    set!(column, get(column, i) + t * get(A, i + l * lda), i)
                end
            end
        else
            for i in 0:(m - 1)
                s = zero(T)
                for l in 0:(k - 1)
                    s += get(A, l + i * lda) * get(B, l * bl + j * bj)
                end
                set!(column, get(column, i) + alpha * s, i)
            end
        end
    end
end

# Without the lengths of texts that Fortran's convention puts behind.
const BLAS = Dict{String,Tuple{Any,Tuple}}()
for (letter, T) in (("d", Float64), ("s", Float32))
    BLAS["$(letter)dot_64_"] = (dot, (I, P{T}, I, P{T}, I))
    BLAS["$(letter)axpy_64_"] = (axpy, (I, P{T}, P{T}, I, P{T}, I))
    BLAS["$(letter)scal_64_"] = (scal, (I, P{T}, P{T}, I))
    BLAS["$(letter)nrm2_64_"] = (nrm2, (I, P{T}, I))
    BLAS["$(letter)asum_64_"] = (asum, (I, P{T}, I))
    BLAS["$(letter)gemv_64_"] = (gemv, (P{UInt8}, I, I, P{T}, P{T}, I, P{T}, I, P{T}, P{T}, I))
    BLAS["$(letter)gemm_64_"] = (gemm, (P{UInt8}, P{UInt8}, I, I, I, P{T}, P{T}, I, P{T}, I, P{T}, P{T}, I))
end

include("lapack.jl")

both(x) = (sin(x), cos(x))

"A product of a matrix with its own transpose, all of it."
function syrk(C::Matrix{T}, tA::Char, A::Matrix{T}, alpha::Bool, beta::Bool) where {T}
    plain = tA == 'N'
    n, k = plain ? size(A) : (size(A, 2), size(A, 1))
    size(C) == (n, n) || throw(DimensionMismatch("output matrix has size $(size(C)), but should have size ($n, $n)"))
    @inbounds for j in 1:n, i in 1:n
        s = zero(T)
        for l in 1:k
            s += plain ? A[i, l] * A[j, l] : A[l, i] * A[l, j]
        end
        C[i, j] = beta ? C[i, j] + alpha * s : alpha * s
    end
    C
end

const nowhere = Ref(false)

"""
    within_autodiff()

Whether this is run as part of a derivative.
"""
@noinline within_autodiff() = nowhere[]
within() = true

"""
    ignore_derivatives(x)

`x`, a number, without derivative.
"""
@noinline ignore_derivatives(x::Number) = x

# Methods of Base, and one of ours: the beginning of their symbol, the function, its arguments, what is called instead.
const METHODS = vcat([("within_autodiff", within_autodiff, (), within)], [("sincos", sincos, (T,), both) for T in (Float64, Float32)],
    [("syrk_wrapper", LinearAlgebra.syrk_wrapper!, (Matrix{T}, Char, Matrix{T}, Bool, Bool), syrk)
     for T in (Float64, Float32) if isdefined(LinearAlgebra, :syrk_wrapper!)])

const STEMS = [unique("julia_" * method[1] for method in METHODS); "julia_ignore_derivatives"]

"Puts the functions here in the place of those that they stand for."
function use!(native, world::UInt)
    for f in LLVM.functions(native.mod)
        LLVM.IsDeclaration(f) == 0 || continue
        symbol = LLVM.name(f)
        for stem in STEMS
            startswith(symbol, stem) && seldom(replace!, native, f, symbol, world)
        end
    end
end

function replace!(native, f, symbol, world)
    for instance in Emit.specializations(first(methods(ignore_derivatives)))
        code = Emit.code_instance(instance, world)
        code === nothing || Emit.symbol(native, code) != symbol || Normalise.inactive!(LLVM.GetModuleContext(native.mod), f)
    end
    for (stem, method, types, model) in METHODS
        startswith(symbol, "julia_" * stem) && Normalise.is_method(native, method, types, symbol, world) || continue
        g = add!(native.mod, model, types, world)
        LLVM.TypeOf(g) == LLVM.TypeOf(f) && LLVM.ReplaceAllUsesWith(f, g)
    end
end

"The function that stands for one of BLAS, or nothing. Optimised on its own: the modules that it is added to are optimised by then."
function of_blas(m::LLVM.Module, name::String)
    haskey(BLAS, name) || return nothing
    model, types = BLAS[name]
    add!(m, model, types, Emit.world_age(); finished = true)
end

"Adds the code of a method of ours to a module, unless it is there."
function add!(m::LLVM.Module, model, types, world; finished = false, name = "enzyme.$(nameof(model)).$(join(types, "."))")
    there = LLVM.GetNamedFunction(m, name)
    there == C_NULL || return there
    instance = Emit.method_instance(Tuple{typeof(model),types...}, world)
    made = Emit.native(instance)
    symbol = Emit.symbol(made, Emit.code_instance(instance, world))
    for signature in inactive_parts(types)
        part = Emit.code_instance(Emit.method_instance(signature, world), world)
        f = part === nothing ? C_NULL : LLVM.GetNamedFunction(made.mod, Emit.symbol(made, part))
        f == C_NULL || Normalise.inactive!(LLVM.GetModuleContext(made.mod), f)
    end
    for f in LLVM.functions(made.mod)
        if LLVM.name(f) == symbol
            LLVM.SetLinkage(f, LLVM.LINKAGE_EXTERNAL)
            LLVM.rename(f, name)
        end
    end
    LLVM.prune!(made.mod)
    Normalise.mark_mathematics!(made, world)
    if finished
        Normalise.mark_types!(made.mod, false)
        Emit.optimise!(made.mod)
        Normalise.mark_types!(made.mod, true)
        Emit.strip_address_spaces!(made.mod)
    end
    LLVM.LinkModules2(m, made.mod)
    g = LLVM.GetNamedFunction(m, name)
    LLVM.SetLinkage(g, LLVM.LINKAGE_INTERNAL)
    g
end

end
