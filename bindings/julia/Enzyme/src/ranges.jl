# Functions of Base that take floats apart by their bits, or count in integers what they then make floats of (part of `Models`): in their code derivatives
# are lost. Each is called as it is for the value, and what has the derivative, and is zero, is added. Beside them, functions of arrays whose code asks
# at run time what it is given.
#
# Ranges are linear in their ends and steps, so all derivatives are right. The length is an integer.

# A number without derivative, and zero with the derivative of the number.
@noinline constant(x) = x
@inline slope(x) = x - constant(x)
# A length of less than 2^53, which no bits of floats are made of: of integers that are made floats by their bits nobody knows that they were none.
whole(n::Integer) = unsafe_trunc(Int, constant(Float64(n)))

moved(x::Base.TwicePrecision, by) = Base.TwicePrecision(x.hi + by, x.lo)
moved(x::AbstractFloat, by) = x + by

"The range with derivatives of its first element and its step."
@inline function sloped(r::StepRangeLen{T,R,S}, first, step) where {T,R,S}
    StepRangeLen{T,R,S}(moved(r.ref, slope(first + (r.offset - 1) * step)), moved(r.step, slope(step)), length(r), r.offset)
end

stepping(start::T, step::T, stop::T) where {T} = sloped(constant(start):constant(step):constant(stop), start, step)
counting(start::T, step::T, ::Nothing, n::Integer) where {T} = sloped(Base._range(constant(start), constant(step), nothing, whole(n)), start, step)
dividing(start::T, ::Nothing, stop::T, n::Integer) where {T} =
    sloped(Base._range(constant(start), nothing, constant(stop), whole(n)), start, n > 1 ? (stop - start) / (n - 1) : zero(T))

# Ends that are integers, or ratios of such.
between(::Type{T}, start::Int, stop::Int, n::Int, divisor::Int) where {T} = Base._linspace(T, whole(start), whole(stop), whole(n), whole(divisor))

# Products and quotients in twice the precision: the second part is what rounding leaves.
product(x::T, y::T) where {T} = (h = x * y; (h, iszero(h) | !isfinite(h) ? h : fma(x, y, -h)))
ratio(x::T, y::T) where {T} = (h = x / y; (h, iszero(h) | !isfinite(h) ? h : -fma(h, y, -x) / y))
rounded(x::T, bits) where {T} = Base.truncbits(constant(x), bits) + slope(x)

function parts(x::T) where {T}
    fraction, exponent = frexp(constant(x))
    # In two steps, each of which is a float.
    half = exponent >> 1
    fraction + slope(x) * exp2(T(-half)) * exp2(T(half - exponent)), exponent
end
function fraction(x::T) where {T}
    power = iszero(x) | !isfinite(x) ? 0 : exponent(constant(x))
    half = power >> 1
    significand(constant(x)) + slope(x) * exp2(T(-half)) * exp2(T(half - power))
end
next(x::T) where {T} = nextfloat(constant(x)) + slope(x)
previous(x::T) where {T} = prevfloat(constant(x)) + slope(x)
spacing(x::T) where {T} = eps(constant(x))
turns(x::T, rounding) where {T} = rem2pi(constant(x), rounding) + slope(x)

"Sine and cosine of a number times pi: `quarters` more or less turn them into each other."
@inline function of_half_turns(given::T, quarters::Int) where {T}
    isinf(given) && throw(DomainError(given, "sinpi and cospi take no infinite numbers"))
    isnan(given) && return given
    x = rem(given, T(2))
    n = round(Int, 2 * constant(x))
    t = T(pi) * (x - T(n) / 2)
    k = (n + quarters) & 3
    k == 0 ? sin(t) : k == 1 ? cos(t) : k == 2 ? -sin(t) : -cos(t)
end
half_turns_sine(x::T) where {T} = of_half_turns(x, 0)
half_turns_cosine(x::T) where {T} = of_half_turns(x, 1)

"As `of_half_turns`, of a number of degrees."
@inline function of_degrees(given::T, quarters::Int) where {T}
    x = rem(given, T(360))
    n = round(Int, constant(x) / 90)
    t = deg2rad(x - T(90n))
    k = (n + quarters) & 3
    k == 0 ? sin(t) : k == 1 ? cos(t) : k == 2 ? -sin(t) : -cos(t)
end
# Base asks for a few numbers first, and gives them, or zero.
degrees_sine(x::T) where {T} = (y = sind(constant(x)); isnan(y) ? x * y : y + slope(of_degrees(x, 0)))
degrees_cosine(x::T) where {T} = (y = cosd(constant(x)); isnan(y) ? x * y : y + slope(of_degrees(x, 1)))
# Base's is one over a tangent that may be infinite.
degrees_cotangent(x::T) where {T} = (y = cotd(constant(x)); isfinite(y) ? y + slope(of_degrees(x, 1) / of_degrees(x, 0)) : inv(degrees_sine(x) / degrees_cosine(x)))

# Near zero Base's quotients are made of two numbers that are nearly the same: their derivative is, so to say, rounding.
series_of_sine(t) = evalpoly(t, (1, -1 / 6, 1 / 120, -1 / 5040, 1 / 362880, -1 / 39916800, 1 / 6227020800, -1 / 1307674368000, 1 / 355687428096000))
series_of_cosine(t) = evalpoly(t, (-1 / 3, 1 / 30, -1 / 840, 1 / 45360, -1 / 3991680, 1 / 518918400, -1 / 93405312000, 1 / 22230464256000))
function cardinal_sine(x::T) where {T}
    y, z = sinc(constant(x)), T(pi) * x
    isfinite(z) ? y + slope(abs(z) < 1 ? T(series_of_sine(z * z)) : half_turns_sine(x) / z) : y
end
function cardinal_cosine(x::T) where {T}
    y, z = cosc(constant(x)), T(pi) * x
    isfinite(z) ? y + slope(abs(z) < 1 ? T(T(pi) * z * series_of_cosine(z * z)) : (half_turns_cosine(x) - half_turns_sine(x) / z) / x) : y
end

"Sums and the like along a dimension."
function accumulated!(op, B::Array, A::Array, dimension::Int, ::Nothing)
    dimension > 0 || throw(ArgumentError("dims must be a positive integer"))
    size(A) == size(B) || throw(DimensionMismatch("shape of B must match A"))
    # Of all elements: those of one along the dimension, and of one step.
    inner = 1
    for d in 1:min(dimension - 1, ndims(A))
        inner *= size(A, d)
    end
    count = size(A, dimension)
    for outer in 0:(div(length(A), max(inner * count, 1)) - 1), i in 1:inner
        at = outer * inner * count + i
        s = Base.reduce_first(op, A[at])
        B[at] = s
        for _ in 2:count
            at += inner
            s = op(s, A[at])
            B[at] = s
        end
    end
    B
end

"`splice!` without new elements, of which Julia does not know the type."
function taken!(a::Vector, i::Int, new::Vector{Any})
    isempty(new) || throw(ArgumentError("Enzyme: splice! takes new elements only from an array of one type"))
    x = a[i]
    deleteat!(a, i)
    x
end

"""
The order in which `sortperm` puts elements, whose own code asks at run time how to compare them. With functions of the program (`by`, `lt`) that is done here,
too: they may do anything.
"""
function order_of(algorithm, less, by, reversed, order, _, v::Vector)
    less === isless && by === identity || return ordered(algorithm, less, by, reversed, order, v)::Vector{Int}
    numbers = collect(1:length(v))
    reversed === true ? sort!(numbers, algorithm, Base.Order.Perm(Base.Order.ReverseOrdering(order), v)) : sort!(numbers, algorithm, Base.Order.Perm(order, v))
end
order_of(algorithm, less, by, reversed, order, _, v::UnitRange{Int}) = ordered(algorithm, less, by, reversed, order, collect(v))::Vector{Int}

"With functions of the program, and compiled for each of them: what is compiled for any function would call itself without end when it is called at run time."
ordered(algorithm, less::L, by::B, reversed, order, v) where {L,B} =
    sort!(collect(1:length(v)), algorithm, Base.Order.Perm(Base.Order.ord(less, by, reversed, order), v))
