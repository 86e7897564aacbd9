# Functions of numbers: mathematics, control flow, precision.

both(f, x) = test_reverse(f, Active, (x, Active)) && test_forward(f, Duplicated, (x, Duplicated))
both(f, x, y) = test_reverse(f, Active, (x, Active), (y, Active)) && test_forward(f, Duplicated, (x, Duplicated), (y, Duplicated))

@testset "shapes of results" begin
    square(x) = x * x
    @test autodiff(Reverse, square, Active, Active(3.0)) == ((6.0,),)
    @test autodiff(Reverse, square, Active(3.0)) == ((6.0,),)
    @test autodiff(ReverseWithPrimal, square, Active, Active(3.0)) == ((6.0,), 9.0)
    @test autodiff(Forward, square, Duplicated, Duplicated(3.0, 1.0)) == (6.0,)
    @test autodiff(Forward, square, Duplicated(3.0, 2.0)) == (12.0,)
    @test autodiff(ForwardWithPrimal, square, Duplicated(3.0, 1.0)) == (6.0, 9.0)
    @test autodiff(Forward, square, Const, Duplicated(3.0, 1.0)) == ()
    @test autodiff(Forward, square, BatchDuplicated(3.0, (1.0, 10.0))) == ((var"1" = 6.0, var"2" = 60.0),)
    @test autodiff(ForwardWithPrimal, square, BatchDuplicated(3.0, (1.0, 10.0))) == ((var"1" = 6.0, var"2" = 60.0), 9.0)
    @test autodiff(Reverse, (x, n) -> x * n, Active, Active(3.0), Const(4)) == ((4.0, nothing),)
    @test autodiff(Reverse, Const(square), Active, Active(3.0)) == ((6.0,),)
    @test autodiff(Reverse, x -> nothing, Const, Active(3.0)) == ((0.0,),)
    @test autodiff_deferred(Reverse, square, Active, Active(3.0)) == ((6.0,),)
end

@testset "mathematics" begin
    @testset "$f" for f in (sin, cos, tan, asin, acos, atan, sinh, cosh, tanh, asinh, atanh, exp, exp2, exp10, expm1, log, log2, log10, log1p, cbrt, sqrt, abs, inv, abs2)
        @test both(f, 0.4)
    end
    @test both(acosh, 1.4)
    @test both(hypot, 0.3, 0.7)
    @test both(atan, 0.3, 0.7)
    @test both(^, 1.3, 2.5)
    @test both(max, 0.3, 0.7)
    @test both(min, 0.3, 0.7)
    @test both(x -> x^5, 1.1)
    @test both(x -> x^-2, 1.1)
    @test both(x -> prod(sincos(x)), 1.1)
    @test both(x -> muladd(x, x, 2x), 1.1)
    @test both(x -> fma(x, x, 2x), 1.1)
    @test both(x -> ifelse(x > 1, x^2, x), 1.1)
    @test both(x -> mod(x, 0.3) * x, 1.1)
    @test both(x -> floor(x) * x, 1.1)
    @test both(x -> sign(x) * x^2, -1.1)
    @test both(x -> clamp(x, 0.0, 2.0)^2, 1.1)
    @test both(x -> 1 / (1 + exp(-x)), 0.2)
    @test both(x -> log(sum(exp, (x, 2x, 3x))), 0.2)
    @test both(x -> ldexp(x, 3) * ldexp(x, -1), 0.2)
    @test both(x -> real(sqrt(complex(x, 2x)) * exp(x * im)), 0.2)
    @test both(x -> evalpoly(x, (1.0, 2.0, 3.0)), 0.2)
    @test both(x -> deg2rad(x) * sind(30.0), 0.2)
    @test autodiff(Reverse, sin, Active, Active(1.0)) == ((cos(1.0),),)
    @test autodiff(ReverseWithPrimal, exp, Active, Active(1.0))[2] === exp(1.0)
end

@testset "precision" begin
    @test autodiff(Reverse, x -> exp(x) * x, Active, Active(1.0f0))[1][1] isa Float32
    @test autodiff(Reverse, x -> sin(x) * x, Active, Active(1.0f0))[1][1] ≈ cos(1.0f0) + sin(1.0f0)
    @test autodiff(Forward, x -> Float64(x)^2, Duplicated(1.5f0, 1.0f0)) === (3.0,)
end

power(x, n) = n == 0 ? one(x) : x * power(x, n - 1)
scaled(x; by = 2.0, shift = 0.0) = by * x^2 + shift
function newton(a)
    x = a
    while abs(x * x - a) > 1e-12
        x = (x + a / x) / 2
    end
    x
end
function collatz(x, n)
    while n != 1
        x, n = iseven(n) ? (x * 1.1, n ÷ 2) : (sin(x) + x, 3n + 1)
    end
    x
end

@testset "control flow" begin
    @test both(x -> power(x, 4), 1.2)
    @test both(x -> scaled(x; by = 3.0), 1.2)
    @test both(x -> scaled(x), 1.2)
    @test both(newton, 2.0)
    @test both(x -> collatz(x, 7), 0.3)
    @test both(x -> x > 0 ? x^2 : 0, 1.2)
    @test both(x -> sum(x * t for t in 0:0.5:2), 1.2)
    @test both(x -> foldl(*, (x, x, x)), 1.2)
    @test both(x -> sum(k -> x^k / factorial(k), 0:10), 1.2)
    @test both(x -> (y = x; for i in 1:5; i == 4 && continue; y = sin(y) + i; end; y), 1.2)
    @test both(x -> (for i in 1:100; x > 10 && return x; x *= 1.5; end; -x), 1.2)
    @test both(x -> begin
        local f
        f = y -> y * x
        f(f(x))
    end, 1.2)
    @test autodiff(Reverse, x -> (println(devnull, "text ", 1); x^2), Active, Active(2.0)) == ((4.0,),)
end

@testset "complex numbers" begin
    @test autodiff(Reverse, z -> real(z * z), Active, Active(2.0 + 3.0im)) == ((4.0 - 6.0im,),)
    @test autodiff(Reverse, z -> abs2(z), Active, Active(2.0 + 3.0im)) == ((4.0 + 6.0im,),)
    @test test_reverse(z -> real(exp(z) / z), Active, (0.3 + 0.4im, Active))
    @test test_forward(z -> exp(z) * z, Duplicated, (0.3 + 0.4im, Duplicated))
    @test autodiff(Forward, z -> z^2, Duplicated(1.0 + 2.0im, 1.0 + 0.0im)) == (2.0 + 4.0im,)
end

# Base has ways of its own where a part is zero, or a power an integer: its values are right there, the derivatives of what it does are not.
@testset "complex functions where a part is zero" begin
    for f in (exp, expm1, sin, cos, tan, sinh, cosh, tanh, asinh, sqrt, log, sinpi, cospi, cis, z -> z^2.0, z -> z^1.5, z -> 2.0^z, z -> z^(1.5 + 0.5im), z -> z^3 / (1 + z))
        parts(x, y) = (w = f(complex(x, y)); 0.7 * real(w) - 1.3 * imag(w))
        for (x, y) in ((0.7, 0.0), (0.0, 0.3), (0.7, 0.3))
            @test test_reverse(parts, Active, (x, Active), (y, Active)) && test_forward(parts, Duplicated, (x, Duplicated), (y, Duplicated))
        end
    end
    @test test_reverse(x -> real(asin(complex(x, 0.3))), Active, (0.0, Active)) && test_reverse((x, p) -> abs2(complex(x, 0.0)^p), Active, (1.3, Active), (2.0, Active))
    @test autodiff(Forward, x -> real(complex(x, 0.0)^1.5), Duplicated(0.0, 1.0)) == (0.0,) && autodiff(Forward, x -> real(complex(x, 0.0)^1.0), Duplicated(0.0, 1.0)) == (1.0,)
    @test test_reverse((x, y) -> Float64(imag(exp(ComplexF32(x, y)))), Active, (0.5f0, Active), (0.0f0, Active))
    # Values are Base's.
    for (f, z) in ((exp, -Inf + 1im), (exp, complex(1.0, Inf)), (sin, complex(0.0, 1e4)), (cos, complex(Inf, 0.0)), (z -> z^0.5, complex(Inf, 1.0)), (z -> z^0.0, 0.0im), (z -> z^2.5, 0.0im))
        @test isequal(autodiff(ForwardWithPrimal, f, Duplicated(z, 1.0 + 0im))[2], f(z))
    end
end
