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

# A number that is only carried: without a call LLVM carries it as an integer, and nothing says what it was.
@noinline carried(x) = x
@inline exchange!(A::P{T}, i::Int, j::Int) where {T} = (x = carried(get(A, i)); set!(A, carried(get(A, j)), i); set!(A, x, j))

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

function axpby(n_::I, a_::P{T}, x::P{T}, incx_::I, b_::P{T}, y::P{T}, incy_::I) where {T}
    n, incy = unsafe_load(n_), unsafe_load(incy_)
    scale(start(y, n, incy), n, incy, unsafe_load(b_))
    axpy(n_, a_, x, incx_, y, incy_)
end

function scal(n_::I, a_::P{T}, x::P{T}, incx_::I) where {T}
    n, a, incx = unsafe_load(n_), unsafe_load(a_), unsafe_load(incx_)
    for i in 0:(n - 1)
        set!(x, a * get(x, i * incx), i * incx)
    end
end

function nrm2(n_::I, x::P{T}, incx_::I) where {T}
    n, incx = unsafe_load(n_), unsafe_load(incx_)
    s = zero(real(T))
    for i in 0:(n - 1)
        s += abs2(get(x, i * incx))
    end
    Base.sqrt_llvm(s)
end

function asum(n_::I, x::P{T}, incx_::I) where {T}
    n, incx = unsafe_load(n_), unsafe_load(incx_)
    s = zero(real(T))
    for i in 0:(n - 1)
        s += size_of(get(x, i * incx))
    end
    s
end
size_of(x::Real) = abs(x)
size_of(x::Complex) = abs(real(x)) + abs(imag(x))

# CBLAS takes numbers as they are, and returns complex ones by reference.
dotu(n::Int64, x::P{T}, incx::Int64, y::P{T}, incy::Int64, out::P{T}) where {T} = dot_into(identity, n, start(x, n, incx), incx, start(y, n, incy), incy, out)
dotc(n::Int64, x::P{T}, incx::Int64, y::P{T}, incy::Int64, out::P{T}) where {T} = dot_into(conj, n, start(x, n, incx), incx, start(y, n, incy), incy, out)
function dot_into(f::F, n, x, incx, y, incy, out::P{T}) where {F,T}
    s = zero(T)
    for i in 0:(n - 1)
        s += f(get(x, i * incx)) * get(y, i * incy)
    end
    set!(out, s, 0)
end

@inline function scale(y::P{T}, n::Int, inc::Int, beta::T) where {T}
    # What is multiplied by zero may be no number, but a factor that is zero has a derivative.
    for i in 0:(n - 1)
        v = get(y, i * inc)
        set!(y, beta == 0 && !isfinite(v) ? zero(T) : beta * v, i * inc)
    end
end

const N, LOWER_N = UInt8('N'), UInt8('n')
"An element of a matrix that is read transposed, and conjugate where that is asked for."
@inline across(trans::UInt8, x) = (trans == UInt8('C')) | (trans == UInt8('c')) ? conj(x) : x
across(trans::UInt8, x::Real) = x

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
                s += across(trans, get(A, i + j * lda)) * get(x, i * incx)
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
                t = alpha * across(transB, get(B, l * bl + j * bj))
                for i in 0:(m - 1)
                    set!(column, get(column, i) + t * get(A, i + l * lda), i)
                end
            end
        else
            for i in 0:(m - 1)
                s = zero(T)
                for l in 0:(k - 1)
                    s += across(transA, get(A, l + i * lda)) * across(transB, get(B, l * bl + j * bj))
                end
                set!(column, get(column, i) + alpha * s, i)
            end
        end
    end
end

# Without the lengths of texts that Fortran's convention puts behind.
const BLAS = Dict{String,Tuple{Any,Tuple}}()
for (letter, sum, dot_name, T) in (("d", "d", "", Float64), ("s", "s", "", Float32), ("z", "dz", "cblas_z", ComplexF64), ("c", "sc", "cblas_c", ComplexF32))
    if isempty(dot_name)
        BLAS["$(letter)dot_64_"] = (dot, (I, P{T}, I, P{T}, I))
    else
        BLAS["$(dot_name)dotu_sub64_"] = (dotu, (Int64, P{T}, Int64, P{T}, Int64, P{T}))
        BLAS["$(dot_name)dotc_sub64_"] = (dotc, (Int64, P{T}, Int64, P{T}, Int64, P{T}))
    end
    BLAS["$(letter)axpy_64_"] = (axpy, (I, P{T}, P{T}, I, P{T}, I))
    BLAS["$(letter)axpby_64_"] = (axpby, (I, P{T}, P{T}, I, P{T}, P{T}, I))
    BLAS["$(letter)scal_64_"] = (scal, (I, P{T}, P{T}, I))
    BLAS["$(sum)nrm2_64_"] = (nrm2, (I, P{T}, I))
    BLAS["$(sum)asum_64_"] = (asum, (I, P{T}, I))
    BLAS["$(letter)gemv_64_"] = (gemv, (P{UInt8}, I, I, P{T}, P{T}, I, P{T}, I, P{T}, P{T}, I))
    BLAS["$(letter)gemm_64_"] = (gemm, (P{UInt8}, P{UInt8}, I, I, I, P{T}, P{T}, I, P{T}, I, P{T}, P{T}, I))
end
# A matrix times its own transpose, conjugate or not; one half of the product is stored.
herk(uplo::P{UInt8}, trans::P{UInt8}, n::I, k::I, alpha::P{T}, A::P{Complex{T}}, lda::I, beta::P{T}, C::P{Complex{T}}, ldc::I) where {T} =
    half_product(conj, unsafe_load(uplo), unsafe_load(trans), unsafe_load(n), unsafe_load(k), unsafe_load(alpha), A, unsafe_load(lda), unsafe_load(beta), C, unsafe_load(ldc))
csyrk(uplo::P{UInt8}, trans::P{UInt8}, n::I, k::I, alpha::P{T}, A::P{T}, lda::I, beta::P{T}, C::P{T}, ldc::I) where {T} =
    half_product(identity, unsafe_load(uplo), unsafe_load(trans), unsafe_load(n), unsafe_load(k), unsafe_load(alpha), A, unsafe_load(lda), unsafe_load(beta), C, unsafe_load(ldc))
function half_product(f::F, uplo, trans, n, k, alpha, A::P{T}, lda, beta, C::P{T}, ldc) where {F,T}
    upper, plain = (uplo == UInt8('U')) | (uplo == UInt8('u')), (trans == N) | (trans == LOWER_N)
    for j in 0:(n - 1)
        first, last = upper ? 0 : j, upper ? j : n - 1
        scale(C + (first + j * ldc) * sizeof(T), last - first + 1, 1, T(beta))
        for i in first:last
            s = zero(T)
            for l in 0:(k - 1)
                s += plain ? get(A, i + l * lda) * f(get(A, j + l * lda)) : f(get(A, l + i * lda)) * get(A, l + j * lda)
            end
            set!(C, get(C, i + j * ldc) + alpha * s, i + j * ldc)
        end
    end
end
for (letter, T) in (("z", Float64), ("c", Float32))
    BLAS["$(letter)herk_64_"] = (herk, (P{UInt8}, P{UInt8}, I, I, P{T}, P{Complex{T}}, I, P{T}, P{Complex{T}}, I))
    BLAS["$(letter)syrk_64_"] = (csyrk, (P{UInt8}, P{UInt8}, I, I, P{Complex{T}}, P{Complex{T}}, I, P{Complex{T}}, P{Complex{T}}, I))
end

include("lapack.jl")
include("ranges.jl")
include("orthogonal.jl")
include("matrices.jl")
include("objects.jl")
include("elementary.jl")

both(x) = (sin(x), cos(x))
split_at_point(x) = (isinf(x) ? zero(x) : rem(x, one(x)), trunc(x))

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

# Methods that are replaced: the function, arguments that lead to the method, the types of arguments for which this is done, what is called instead.
const Floats = Union{Float64,Float32}
const METHODS = Any[(within_autodiff, (), (), within), (sincos, (Float64,), (Floats,), both)]
for T in (Float64, Float32)
    for (f, model) in ((exp, complex_exp), (expm1, complex_expm1), (sin, complex_sin), (cos, complex_cos), (sinpi, complex_sinpi), (cospi, complex_cospi), (asin, complex_asin), (acos, complex_acos), (cosc, complex_cosc))
        push!(METHODS, (f, (Complex{T},), (Complex{T},), model))
    end
    for (A, B) in ((Complex{T}, T), (T, Complex{T}), (Complex{T}, Complex{T}))
        push!(METHODS, (Base._cpow, (A, B), (A, B), complex_power))
    end
    push!(METHODS, (Base._linspace, (Type{T}, Int, Int, Int, Int), (Type{T}, Int, Int, Int, Int), between))
    for rounding in (:Nearest, :ToZero, :Down, :Up)
        push!(METHODS, (rem2pi, (T, RoundingMode{rounding}), (T, RoundingMode), turns))
    end
    for row in Any[(\, (Matrix{T}, Vector{T}), (AbstractMatrix{<:Floats}, AbstractVecOrMat{<:Real}), divide), (inv, (Matrix{T},), (AbstractMatrix{<:Floats},), inverse),
        (\, (LinearAlgebra.Symmetric{T,Matrix{T}}, Vector{T}), (AbstractMatrix{<:Floats}, AbstractVector{<:Real}), divide),
        (\, (LinearAlgebra.Symmetric{T,Matrix{T}}, Matrix{T}), (AbstractMatrix{<:Floats}, AbstractMatrix{<:Real}), divide),
        (inv, (LinearAlgebra.Symmetric{T,Matrix{T}},), (LinearAlgebra.Symmetric{<:Floats},), symmetric_inverse),
        (LinearAlgebra.det, (LinearAlgebra.Symmetric{T,Matrix{T}},), (AbstractMatrix{<:Floats},), determinant),
        (LinearAlgebra.cond, (Matrix{T}, Int), (AbstractMatrix{<:Floats}, Real), condition),
        (LinearAlgebra.det, (Matrix{T},), (AbstractMatrix{<:Floats},), determinant), (LinearAlgebra.exp!, (Matrix{T},), (AbstractMatrix{<:Floats},), exponential),
        (LinearAlgebra.syrk_wrapper!, (Matrix{T}, Char, Matrix{T}, Bool, Bool), (StridedMatrix{<:Floats}, Char, StridedVecOrMat{<:Floats}, Real, Real), syrk),
        (LinearAlgebra.gemv!, (Vector{T}, Char, Matrix{T}, Vector{T}, T, T), (StridedVector{T}, Char, StridedVecOrMat{T}, StridedVector{T}, T, Real), vector_into),
        (LinearAlgebra.gemv!, (Vector{T}, Char, Matrix{T}, Vector{T}, T, T), (StridedVector{T}, Char, StridedVecOrMat{T}, StridedVector{T}, Union{Bool,Int}, T), vector_into),
        (modf, (T,), (T,), split_at_point), (sinpi, (T,), (T,), half_turns_sine), (cospi, (T,), (T,), half_turns_cosine), (sinc, (T,), (T,), cardinal_sine), (cosc, (T,), (T,), cardinal_cosine),
        (sind, (T,), (T,), degrees_sine), (cosd, (T,), (T,), degrees_cosine), (cotd, (T,), (T,), degrees_cotangent),
        (frexp, (T,), (T,), parts), (significand, (T,), (T,), fraction), (nextfloat, (T,), (T,), next), (prevfloat, (T,), (T,), previous), (eps, (T,), (T,), spacing),
        (Base.mul12, (T, T), (T, T), product), (Base.div12, (T, T), (T, T), ratio), (Base.truncbits, (T, Int), (T, Int), rounded),
        (Colon(), (T, T, T), (T, T, T), stepping), (Base._range, (T, T, Nothing, Int), (T, T, Nothing, Integer), counting),
        (Base._range, (T, Nothing, T, Int), (T, Nothing, T, Integer), dividing)]
        push!(METHODS, row)
    end
end
const Real1, Real2 = AbstractVector{<:Real}, AbstractVecOrMat{<:Real}
for F in (Factors{<:Floats,<:Real}, Factors{<:Union{Bool,Int},<:Floats})
    given, to = LinearAlgebra.MulAddMul{true,true,Bool,Bool}, AbstractVecOrMat{<:Floats}
    for name in (:gemm_wrapper!, :generic_matmatmul!, :_generic_matmatmul!)
        isdefined(LinearAlgebra, name) && push!(METHODS, (getfield(LinearAlgebra, name), (Matrix{Float64}, Char, Char, Matrix{Float64}, Matrix{Float64}, given), (to, Char, Char, Real2, Real2, F), product_into))
    end
    push!(METHODS, (LinearAlgebra.generic_matvecmul!, (Vector{Float64}, Char, Matrix{Float64}, Vector{Float64}, given), (AbstractVector{<:Floats}, Char, Real2, Real1, F), vector_with))
    isdefined(LinearAlgebra, :generic_mul!) || continue
    push!(METHODS, (LinearAlgebra.generic_mul!, (Matrix{Float64}, Float64, Matrix{Float64}, given), (AbstractArray{<:Floats}, Real, AbstractArray{<:Real}, F), scaled_from))
    push!(METHODS, (LinearAlgebra.generic_mul!, (Matrix{Float64}, Matrix{Float64}, Float64, given), (AbstractArray{<:Floats}, AbstractArray{<:Real}, Real, F), scaled_into))
end
push!(METHODS, (deepcopy, (Vector{Any},), (Any,), deep))
push!(METHODS, (merge, (NamedTuple{(),Tuple{}}, Dict{Symbol,Float64}), (NamedTuple, Any), merged))
push!(METHODS, (splice!, (Vector{Float64}, Int, Vector{Any}), (Vector, Int, Vector{Any}), taken!))
push!(METHODS, (Base._accumulate!, (typeof(Base.add_sum), Matrix{Float64}, Matrix{Float64}, Int, Nothing), (Function, Array, Array, Int, Nothing), accumulated!))
for name in names(LinearAlgebra; all = true)
    # The code of a function with keywords.
    occursin(r"^#+pinv#[0-9]+$", string(name)) &&
        push!(METHODS, (getfield(LinearAlgebra, name), (Float64, Float64, typeof(LinearAlgebra.pinv), Matrix{Float64}), (Real, Real, Any, AbstractMatrix{<:Floats}), pseudoinverse))
end

for name in names(Base.Sort; all = true)
    occursin(r"^#+sortperm#[0-9]+$", string(name)) &&
        push!(METHODS, (getfield(Base.Sort, name), (Base.Sort.QuickSortAlg, Function, Function, Nothing, Base.Order.ForwardOrdering, typeof(sortperm), Vector{Float64}),
            (Any, Any, Any, Union{Nothing,Bool}, Base.Order.Ordering, Any, Union{Vector{<:Floats},UnitRange{Int}}), order_of))
end

const kept = Ref(false)

"""
Redefines short functions that work on the bits of floats as they are, but never inlined, so that those here can take their place. Only where a derivative asks
for it: Julia then compiles anew what they were inlined in. Whether there were any left.
"""
function keep_bits!(never_inline!)
    kept[] && return false
    for (f, types) in ((modf, (Float64,)), (frexp, (Float64,)), (significand, (Float64,)), (nextfloat, (Float64,)), (prevfloat, (Float64,)), (eps, (Float64,)), (Base.truncbits, (Float64, Int)),
        (Base.mul12, (Float64, Float64)), (Base.div12, (Float64, Float64)))
        never_inline!(which(f, Tuple{types...}))
    end
    kept[] = true
end

const kept_short = Set{Symbol}()

"As `keep_bits!`, of short functions that are not refused as they are, where the program has such."
function keep_short!(never_inline!)
    for (f, reach, types) in Any[(exp, ComplexF64, Union{ComplexF64,ComplexF32}), (sinc, Float64, Floats), (cosc, Float64, Floats), (cotd, Float64, Floats), (cosc, ComplexF64, Union{ComplexF64,ComplexF32})]
        name = Symbol(f, reach)
        name in kept_short && continue
        method = which(f, Tuple{reach})
        any(i -> i.specTypes <: Tuple{typeof(f),types}, Emit.specializations(method)) || continue
        never_inline!(method)
        push!(kept_short, name)
    end
end

"Puts the functions here in the place of those that they stand for."
function use!(native, world::UInt)
    ignored!(native, native.mod, ignore_derivatives, world)
    any(f -> startswith(LLVM.name(f), "julia_sparse_places"), LLVM.functions(native.mod)) && ignored!(native, native.mod, parentmodule(Models).Unrolled.sparse_places!, world)
    any(f -> occursin(TEXT, LLVM.name(f)), LLVM.functions(native.mod)) && seldom(mute!, native, world)
    any(f -> occursin(LOCKS, LLVM.name(f)), LLVM.functions(native.mod)) && seldom(leave_locks!, native, world)
    for row in METHODS
        # By number: taken apart otherwise, each type of row would be compiled for.
        f, reach, types, model = getfield(row, 1), getfield(row, 2), getfield(row, 3), getfield(row, 4)
        instance = Emit.method_instance(Tuple{typeof(f),reach...}, world)
        instance === nothing && continue
        for special in Emit.specializations(instance.def)
            special.specTypes <: Tuple{typeof(f),types...} && seldom(replace!, native, special, model, world)
        end
    end
end

const TEXT = r"^julia_.*(print|show|display|string|repr)"
const WRITERS = Any[Normalise.TEXT..., (getfield(Base, n) for n in names(Base; all = true) if occursin(Normalise.TEXT_KEYWORDS, string(n)))...]

const LOCKS = r"^julia_(try|un)?lock_"
"Taking a lock and giving it back is without derivative; not what is done in between."
function leave_locks!(native, world)
    for f in (lock, unlock, trylock), m in methods(f)
        types = Base.unwrap_unionall(m.sig).parameters
        length(types) == 2 && types[2] isa DataType && types[2] <: Base.AbstractLock && ignored!(native, native.mod, m, world)
    end
end

"Functions that make text, and write it, are without derivative."
function mute!(native, world)
    # Base's have thousands of specialisations: only those that the module has something of.
    names = Set{Symbol}(Normalise.method_name(LLVM.name(f)) for f in LLVM.functions(native.mod))
    foreach(f -> foreach(m -> m.name in names && ignored!(native, native.mod, m, world), methods(f)), WRITERS)
end

"What a function here returns or leaves in memory has no derivative."
ignored!(native, m::LLVM.Module, f::Function, world::UInt) = ignored!(native, m, first(methods(f)), world)
function ignored!(native, m::LLVM.Module, method::Method, world::UInt)
    for instance in Emit.specializations(method)
        code = Emit.code_instance(instance, world)
        symbol = code === nothing ? "" : Emit.symbol(native, code)
        isempty(symbol) || Normalise.inactive!(LLVM.GetModuleContext(m), LLVM.GetNamedFunction(m, symbol))
    end
end

function replace!(native, special, model, world)
    # Of what Julia compiles for arguments of any type.
    model === deep && !Base.isdispatchtuple(special.specTypes) && return
    code = Emit.code_instance(special, world)
    symbol = code === nothing ? "" : Emit.symbol(native, code)
    isempty(symbol) && return
    f = LLVM.GetNamedFunction(native.mod, symbol)
    # A rule of the program's comes first.
    (LLVM.GetLinkage(f) == LLVM.LINKAGE_EXTERNAL || LLVM.has_mark(f, "enzyme_inactive")) && return
    g = add!(native.mod, model, special.specTypes.parameters[2:end], world)
    LLVM.TypeOf(g) == LLVM.TypeOf(f) || error("Enzyme: internal: the code for $(special.specTypes) returns another type")
    # What is not done within a derivative goes before that is made.
    model === within && LLVM.mark_enum(g, LLVM.GetModuleContext(native.mod), "alwaysinline")
    LLVM.ReplaceAllUsesWith(f, g)
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
    for f in (constant, pivots, exchanged, eigenvectors, singular_vectors, number!)
        ignored!(made, made.mod, f, world)
    end
    for f in LLVM.functions(made.mod)
        if LLVM.name(f) == symbol
            LLVM.SetLinkage(f, LLVM.LINKAGE_EXTERNAL)
            LLVM.rename(f, name)
        end
    end
    LLVM.prune!(made.mod)
    # What a model calls asks, too.
    any(f -> startswith(LLVM.name(f), "julia_within_autodiff"), LLVM.functions(made.mod)) &&
        foreach(special -> replace!(made, special, within, world), Emit.specializations(first(methods(within_autodiff))))
    model === both || any(f -> startswith(LLVM.name(f), "julia_sincos"), LLVM.functions(made.mod)) &&
        foreach(special -> special.specTypes <: Tuple{typeof(sincos),Floats} && replace!(made, special, both, world), Emit.specializations(which(sincos, Tuple{Float64})))
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
