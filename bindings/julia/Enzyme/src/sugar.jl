# gradient, jacobian and products with the Hessian, from `autodiff`.

const Differentiable = Union{AbstractFloat,Complex}

"The annotation for an argument of which the derivative is wanted, and how it is read off afterwards."
wanted(x::Annotation) = x
function wanted(x::T) where {T}
    can_be_active(T) && return Active(x)
    shadow = make_zero(x)
    has_inline_floats(T) ? MixedDuplicated(x, Ref(shadow)) : Duplicated(x, shadow)
end

derivative_of(x::Const, d) = nothing
derivative_of(x::Active, d) = d
derivative_of(x::WithShadow, d) = x.dval
derivative_of(x::MixedDuplicated, d) = x.dval[]

"""
    gradient(Reverse, f, arguments...)
    gradient(Forward, f, x)

The derivatives of `f`, which returns a float, with respect to each argument, as a tuple; `nothing` for `Const` arguments. With `ReverseWithPrimal`
or `ForwardWithPrimal` it is `(derivs = ..., val = ...)`.
"""
function gradient(mode::ReverseMode{P}, f::F, args::Vararg{Any,N}) where {P,F,N}
    annotations = map(wanted, args)
    out = autodiff(mode, annotated(f), Active, annotations...)
    derivatives = map(derivative_of, annotations, out[1])
    P ? (derivs = derivatives, val = out[2]) : derivatives
end

"""
    gradient!(Reverse, dx, f, x)

As `gradient`, into memory of the caller's.
"""
function gradient!(mode::ReverseMode{P}, dx::X, f::F, x::X) where {P,F,X}
    make_zero!(dx)
    out = autodiff(mode, annotated(f), Active, Duplicated(x, dx))
    P ? (derivs = (dx,), val = out[2]) : (dx,)
end

"""
    onehot(x)

The unit vectors of the space of `x`, an array, a tuple of floats or a float, as a tuple.
"""
onehot(x::Array) = ntuple(n -> (e = zero(x); e[n] = one(eltype(x)); e), length(x))
onehot(x::Array, first::Int, last::Int) = ntuple(n -> (e = zero(x); e[first + n - 1] = one(eltype(x)); e), last - first + 1)
onehot(x::NTuple{N,T}) where {N,T<:AbstractFloat} = ntuple(n -> ntuple(m -> T(m == n), N), N)
onehot(x::AbstractFloat) = (one(x),)

"""
    chunkedonehot(x, Val(n))

As `onehot`, in tuples of `n` unit vectors, the last of which may be shorter.
"""
function chunkedonehot(x, ::Val{N}) where {N}
    units = onehot(x)
    Tuple(units[start:min(start + N - 1, end)] for start in 1:N:length(units))
end

chunk_size(chunk::Nothing, n) = min(n, 8)
chunk_size(::Val{C}, n) where {C} = C

"Tangents of `f` along all unit vectors of `x`, so many at once, and the value."
function along_units(mode, f, x, chunk, shadows)
    units = shadows === nothing ? onehot(x) : shadows
    size = chunk_size(chunk, length(units))
    out, value = Any[], nothing
    plain = set_strong_zero(set_runtime_activity(ForwardWithPrimal, runtime_activity(mode)), strong_zero(mode))
    for start in 1:size:length(units)
        part = units[start:min(start + size - 1, length(units))]
        if length(part) == 1
            t = autodiff(plain, annotated(f), Duplicated, Duplicated(x, part[1]))
            push!(out, t[1])
        else
            t = autodiff(plain, annotated(f), BatchDuplicated, BatchDuplicated(x, Tuple(part)))
            append!(out, collect(t[1]))
        end
        value = t[2]
    end
    map(identity, out), value
end

"With so many lanes at once or, if nobody said how many and that is refused, with one."
function one_by_one(f, chunk)
    chunk === nothing || return f(chunk)
    try
        return f(nothing)
    catch e
        e isa EnzymeError || rethrow()
    end
    f(Val(1))
end

same_shape(x::Array, tangents) = reshape(collect(tangents), size(x))
same_shape(x::NTuple, tangents) = Tuple(tangents)
same_shape(x::AbstractFloat, tangents) = tangents[1]

function gradient(mode::ForwardMode{P}, f::F, x; chunk = nothing, shadows = nothing) where {P,F}
    isempty(x) && x isa Array && return P ? (derivs = (copy(x),), val = f(x)) : (copy(x),)
    tangents, value = one_by_one(c -> along_units(mode, f, x, c, shadows), chunk)
    # Tangents that are arrays: the dimensions of the result come first, then those of the argument.
    whole = x isa Array && first(tangents) isa AbstractArray ? stacked(tangents, x) : same_shape(x, tangents)
    P ? (derivs = (whole,), val = value) : (whole,)
end

stacked(tangents, x) = reshape(reduce(hcat, map(vec, tangents)), size(first(tangents))..., size(x)...)

"""
    jacobian(Forward, f, x)
    jacobian(Reverse, f, x)

The derivatives of all parts of `f(x)`, an array, with respect to all of `x`: an array with the dimensions of the result and then those of `x`, in a tuple.
"""
jacobian(mode::ForwardMode, f::F, x; chunk = nothing, shadows = nothing) where {F} = gradient(mode, f, x; chunk = chunk, shadows = shadows)

"What `f` returns, into an array of the caller's: functions that return arrays, for reverse mode."
struct Into{F}
    f::F
end
function (into::Into)(y, x)
    r = into.f(x)
    for n in eachindex(r)
        y[n] = r[n]
    end
    nothing
end

"The rows of a Jacobian, one after the other: `y` is where the results go."
function jacobian_rows(plain, into, x::X, y, chunk) where {X}
    rows = Vector{X}(undef, length(y))
    size_of = chunk_size(chunk, length(y))
    for start in 1:size_of:length(y)
        part = start:min(start + size_of - 1, length(y))
        dx = map(_ -> zero(x), part)
        dy = map(part) do n
            e = zero(y)
            e[n] = one(eltype(y))
            e
        end
        if length(part) == 1
            autodiff(plain, Const(into), Const, Duplicated(copy(y), dy[1]), Duplicated(x, dx[1]))
        else
            autodiff(plain, Const(into), Const, BatchDuplicated(copy(y), Tuple(dy)), BatchDuplicated(x, Tuple(dx)))
        end
        rows[part] .= dx
    end
    rows
end

function jacobian(mode::ReverseMode{P}, f::F, x::X; chunk = nothing) where {P,F,X<:Array}
    value = f isa Annotation ? f.val(x) : f(x)
    if value isa AbstractFloat
        out = gradient(mode, f, x)
        return out
    end
    rows = one_by_one(c -> jacobian_rows(NoPrimal(mode), Into(f isa Annotation ? f.val : f), x, Array(value), c), chunk)
    whole = permutedims(reduce(hcat, map(vec, rows)))
    whole = reshape(whole, size(value)..., size(x)...)
    P ? (derivs = (whole,), val = value) : (whole,)
end

# ---- second derivatives: the reverse sweep in forward mode ----

"""
    hvp_and_gradient!(product, gradient, f, x, v)

Adds the product of the Hessian of `f` at `x` with `v` to `product`, and the gradient to `gradient`.
"""
@generated function hvp_and_gradient!(product::X, gradient::X, f::F, x::X, v::X) where {F,X}
    has_inline_floats(X) && return throwing(ArgumentError("hvp: the argument is a $X: products go to memory, so arrays are needed"))
    quote
        R = result_type(Core.Compiler.return_type(f, Tuple{X}))
        second_call(R, product, gradient, f, x, v)
        nothing
    end
end

@generated function second_call(::Type{R}, product::X, gradient::X, f::F, x::X, v::X) where {R,F,X}
    what = "hvp($F, ::$X)"
    R <: AbstractFloat && isconcretetype(R) || return throwing(ArgumentError("$what: the function returns a $R, no float"))
    made = Any[:(r = make_ref($R)), :(dr = make_ref($R)), :(s = make_ref($R, one($R))), :(ds = make_ref($R)), :(g = make_ref($F, f)),
        :(a = make_ref($X, x)), :(da = make_ref($X, v)), :(b = make_ref($X, gradient)), :(db = make_ref($X, product))]
    plan = Plan(:second, Tuple{typeof(primal),RefValue{R},RefValue{F},RefValue{X}}, Slot[], 1, String[], what)
    call_expression(plan, made, Any[:r, :dr, :s, :ds, :g, :a, :da, :b, :db], nothing,
        Any[:(Duplicated{$X}(x, v)), :(Duplicated{$X}(gradient, product)), :(Duplicated{$X}(product, gradient))])
end

"The product of the Hessian of `f` at `x` with `v`."
hvp(f::F, x::X, v::X) where {F,X} = (out = make_zero(x); hvp!(out, f, x, v); out)

"As `hvp`, into `out`."
hvp!(out::X, f::F, x::X, v::X) where {F,X} = (make_zero!(out); hvp_and_gradient!(out, make_zero(x), f, x, v); nothing)
