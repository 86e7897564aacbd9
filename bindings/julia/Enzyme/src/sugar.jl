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
    gradient(Forward, f, arguments...; chunk, shadows)

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
onehot(x::Array) = ntuple(n -> unit(x, n), length(x))
onehot(x::Array, first::Int, last::Int) = ntuple(n -> unit(x, first + n - 1), last - first + 1)
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
function along_units(mode, f::F, x::X, chunk, shadows) where {F,X}
    plain = set_strong_zero(set_runtime_activity(ForwardWithPrimal, runtime_activity(mode)), strong_zero(mode))
    R = result_of(annotated(f), (Const(x),))
    isconcretetype(R) && within_autodiff() && shadows === nothing && x isa Union{Array,AbstractFloat} && return along_each(plain, f, x, R)
    units = shadows === nothing ? onehot(x) : shadows
    size = chunk_size(chunk, length(units))
    out, value = Any[], nothing
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
    isconcretetype(R) ? (Vector{R}(out), value::R) : (map(identity, out), value)
end

"As `along_units`, one after the other: what a derivative of a derivative calls."
function along_each(plain, f::F, x::X, ::Type{R}) where {F,X,R}
    first = autodiff(plain, annotated(f), Duplicated, Duplicated(x, unit(x, 1)))
    out = Vector{R}(undef, length(x))
    out[1] = first[1]
    for n in 2:length(x)
        out[n] = autodiff(plain, annotated(f), Duplicated, Duplicated(x, unit(x, n)))[1]
    end
    out, first[2]
end
unit(x::AbstractFloat, n::Int) = one(x)
unit(x::Array, n::Int) = Base.isbitsunion(eltype(x)) ? unit_of_float(x, n) : (e = zero(x); e[n] = one(eltype(x)); e)
# Of an array with elements of several types: one without float has no direction.
unit_of_float(x::Array, n::Int) = (e = make_zero(x); x[n] isa Differentiable && (e[n] = one(x[n])); e)

"With so many lanes at once or, if nobody said how many and that is refused, with one."
function one_by_one(f, chunk)
    (chunk !== nothing || within_autodiff()) && return f(chunk)
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
    r = gradient_of_one(mode, f, x, chunk, is_of_argument(shadows, x) ? shadows[1] : shadows)
    P ? (derivs = (r[1],), val = r[2]) : (r[1],)
end

gradient(mode::ForwardMode, f::F, x, y, more...; chunk = nothing, shadows = nothing) where {F} =
    each_argument((g, x, n) -> gradient_of_one(mode, g, x, chunk, shadows === nothing ? nothing : shadows[n]), (x, y, more...), f, mode)

"Whether the tangents are those of several arguments, of which this is the first."
is_of_argument(shadows, x) = shadows isa Tuple && !isempty(shadows) && shadows[1] isa Tuple && !(x isa Tuple)

function gradient_of_one(mode::ForwardMode, f::F, x, chunk, shadows) where {F}
    x isa Annotation && throw(ArgumentError("gradient(Forward, ...), jacobian: the argument is a $(typeof(x)): here it is bare"))
    isempty(x) && x isa Array && return copy(x), called(f, x)
    tangents, value = one_by_one(c -> along_units(mode, f, x, c, shadows), chunk)
    # Tangents that are arrays: the dimensions of the result come first, then those of the argument.
    x isa Array && first(tangents) isa AbstractArray ? stacked(tangents, x) : same_shape(x, tangents), value
end

called(f::Annotation, x) = f.val(x)
called(f, x) = f(x)

"A function of several arguments as one of a single one."
struct Fixed{F,B,A}
    f::F
    before::B
    after::A
end
(g::Fixed)(x) = g.f(g.before..., x, g.after...)

bare(x::Annotation) = x.val
bare(x) = x

"The derivatives with respect to each argument, the others being constants: what `derive` gives of a function, an argument and its number, and the value."
function each_argument(derive, args::Tuple, f, mode)
    values, value = map(bare, args), nothing
    derivatives = ntuple(length(args)) do n
        args[n] isa Const && return nothing
        args[n] isa Annotation && throw(ArgumentError("argument $n is a $(typeof(args[n])): here arguments are bare, or Const"))
        derivative, value = derive(Fixed(bare(f), values[1:(n - 1)], values[(n + 1):end]), values[n], n)
        derivative
    end
    all(x -> x isa Const, args) && needs_primal(mode) && (value = bare(f)(values...))
    needs_primal(mode) ? (derivs = derivatives, val = value) : derivatives
end

stacked(tangents, x) = reshape(reduce(hcat, map(vec, tangents)), size(first(tangents))..., size(x)...)

"""
    jacobian(Forward, f, arguments...; chunk, shadows)
    jacobian(Reverse, f, arguments...; chunk)

The derivatives of all parts of `f(arguments...)`, an array, with respect to all of each argument: arrays with the dimensions of the result and then those of the
argument, in a tuple; `nothing` for `Const` arguments.
"""
jacobian(mode::ForwardMode, f::F, x, more...; chunk = nothing, shadows = nothing) where {F} = gradient(mode, f, x, more...; chunk = chunk, shadows = shadows)

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

# `n_outs`, which Enzyme.jl takes, is known once the function was called.
function jacobian(mode::ReverseMode{P}, f::F, x; chunk = nothing, n_outs = nothing) where {P,F}
    r = rows_of_one(mode, f, x, chunk)
    P ? (derivs = (r[1],), val = r[2]) : (r[1],)
end

jacobian(mode::ReverseMode, f::F, x, y, more...; chunk = nothing, n_outs = nothing) where {F} =
    each_argument((g, x, n) -> rows_of_one(mode, g, x, chunk), (x, y, more...), f, mode)

function rows_of_one(mode::ReverseMode, f::F, x, chunk) where {F}
    x isa Union{AbstractFloat,Array} || throw(ArgumentError("jacobian(Reverse, ...): an argument is a $(typeof(x)): floats and arrays are supported, or Forward"))
    value = called(f, x)
    value isa AbstractFloat && return gradient(NoPrimal(mode), f, x)[1], value
    # A number is an array of one.
    into = x isa Array ? Into(bare(f)) : Into(OfFirst(bare(f)))
    rows = one_by_one(c -> jacobian_rows(NoPrimal(mode), into, x isa Array ? x : [x], Array(value), c), chunk)
    whole = permutedims(reduce(hcat, map(vec, rows)))
    reshape(whole, size(value)..., size(x)...), value
end

struct OfFirst{F}
    f::F
end
(g::OfFirst)(x) = g.f(x[1])

# ---- second derivatives: the reverse sweep in forward mode ----

"""
    hvp_and_gradient!(product, gradient, f, x, v)

Adds the product of the Hessian of `f` at `x` with `v` to `product`, and the gradient to `gradient`.
"""
@generated function hvp_and_gradient!(product::X, gradient::X, f::F, x::X, v::X) where {F,X}
    has_inline_floats(X) && return throwing(ArgumentError("hvp: the argument is a $X: products go to memory, so arrays are needed"))
    Unions.leads_to_array(X) && return throwing(ArgumentError("hvp: the argument is a $X: products are not there for arrays of values of one of several types"))
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
