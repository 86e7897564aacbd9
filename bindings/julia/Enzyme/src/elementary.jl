# Functions of complex numbers that Base computes in another way where the real or the imaginary part is zero, or a power is an integer: there its result
# is right and the derivative of what it does is not (`exp(x + 0im)` is `exp(x) + 0im`). Here each is one formula for all of these. Base's own is called
# where numbers are not finite, but for `sinpi`, `cospi` and powers.

"Whether all are finite."
all_finite(x, y) = isfinite(x) & isfinite(y)

function complex_exp(z::Complex)
    x, y = reim(z)
    r = exp(x)
    all_finite(r, y) ? Complex(r * cos(y), r * sin(y)) : exp(z)
end
function complex_expm1(z::Complex)
    x, y = reim(z)
    r = exp(x)
    iszero(y) & all_finite(r, x) ? Complex(expm1(x) - 2 * r * sin(y / 2)^2, r * sin(y)) : expm1(z)
end
function complex_sin(z::Complex)
    x, y = reim(z)
    c, s = cosh(y), sinh(y)
    all_finite(x, c) ? Complex(sin(x) * c, cos(x) * s) : sin(z)
end
function complex_cos(z::Complex)
    x, y = reim(z)
    c, s = cosh(y), sinh(y)
    all_finite(x, c) ? Complex(cos(x) * c, -sin(x) * s) : cos(z)
end
function complex_sinpi(z::Complex{T}) where {T}
    x, y = reim(z)
    Complex(half_turns_sine(x) * cosh(T(pi) * y), half_turns_cosine(x) * sinh(T(pi) * y))
end
function complex_cospi(z::Complex{T}) where {T}
    x, y = reim(z)
    Complex(half_turns_cosine(x) * cosh(T(pi) * y), -half_turns_sine(x) * sinh(T(pi) * y))
end
function complex_cosc(z::Complex{T}) where {T}
    w = T(pi) * z
    abs(w) < 1 ? Complex{T}(T(pi) * w * series_of_cosine(w * w)) : (complex_cospi(z) - complex_sinpi(z) / w) / z
end
complex_asin(z::Complex) = iszero(real(z)) && isfinite(imag(z)) ? Complex(atan(real(z), real(sqrt(1 - z) * sqrt(1 + z))), imag(asin(z))) : asin(z)
function complex_acos(z::Complex{T}) where {T}
    iszero(real(z)) && isfinite(imag(z)) || return acos(z)
    w = complex_asin(z)
    Complex(T(pi) / 2 - real(w), -imag(w))
end

function complex_power(z::Union{T,Complex{T}}, p::Union{T,Complex{T}}) where {T}
    a, b = reim(p)
    iszero(z) && return iszero(p) ? Complex(one(T), zero(T)) : power_of_zero(complex(z), a)
    r, turn = abs(z), angle(z)
    size, at = r^a * exp(-b * turn), a * turn + b * log(r)
    iszero(b) && isnan(at) && (at = a * turn)
    # As Base has it.
    isfinite(at) ? Complex(size * cos(at), size * sin(at)) : iszero(size) ? Complex(zero(T), zero(T)) : Complex(T(NaN), T(NaN))
end
# The derivative is zero, or infinite below the first power.
power_of_zero(z::Complex{T}, a::T) where {T} =
    a == 1 ? z : a > 1 ? z * zero(T) : a > 0 ? Complex(abs(real(z))^a, abs(imag(z))^a) : Complex(T(NaN), T(NaN))
