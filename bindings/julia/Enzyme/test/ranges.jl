# Ranges, and functions that work on the bits of floats.

both(f, x) = test_reverse(f, Active, (x, Active)) && test_forward(f, Duplicated, (x, Duplicated))

@testset "ranges" begin
    @test both(x -> sum(abs2, range(x, stop = 2x, length = 5)), 0.3)
    # Ends that are integers are counted in integers.
    @test both(x -> range(x, stop = 3.0, length = 5)[2]^2, 1.0)
    @test both(x -> sum(abs2, range(x; step = x^2, length = 4)), 0.33)
    @test both(x -> sum(abs2, x:0.1:1.0), 0.33)
    @test both(x -> (t = collect(0:x:1); sum(t .* t)), 0.3)
    @test both(x -> sum(abs2, LinRange(x, 2x^2, 5)), 0.3)
    @test autodiff(ReverseWithPrimal, x -> (x:0.1:1.0)[3], Active, Active(0.3)) == ((1.0,), (0.3:0.1:1.0)[3])
    # As many as an array has elements, which its memory says.
    all_of(f) = test_reverse(f, Active, ([0.5, 0.3, 0.8], Duplicated)) && test_forward(f, Duplicated, ([0.5, 0.3, 0.8], Duplicated))
    @test all_of(y -> sum(range(0, 1; length = length(y)) .* y) + step(range(0.0, 1.0; length = length(y))) * y[1])
    @test all_of(y -> sum(abs2, range(y[1]; step = y[2], length = length(y))) + sum(range(y[1], stop = 2y[2], length = length(y)) .* y))
    function interpolated(y)
        x = range(0, 1; length = length(y))
        at(t) = (i = clamp(searchsortedlast(x, t), 1, length(y) - 1); w = (t - x[i]) / step(x); (1 - w) * y[i] + w * y[i+1])
        sum(at(t)^2 for t in 0.05:0.1:0.95)
    end
    @test all_of(interpolated)
    @test autodiff(Reverse, x -> range(x, stop = 2f0, length = 4)[2], Active, Active(0.5f0))[1][1] ≈ 2 / 3
end

@testset "turns" begin
    @test both(x -> mod2pi(x)^2, 17.3)
    @test both(x -> rem2pi(x, RoundNearest)^2, 17.3)
    for x in (0.3, -0.7, 17.8)
        @test both(sinpi, x)
        @test both(cospi, x)
        @test both(sinc, x)
        @test autodiff(ReverseWithPrimal, x -> sinpi(x) + 2cospi(x), Active, Active(x))[2] ≈ sinpi(x) + 2cospi(x) rtol = 1e-14
    end
    @test autodiff(Reverse, sinpi, Active, Active(1.0)) == ((-Float64(pi),),)
    @test autodiff(ForwardWithPrimal, cospi, Duplicated(0.5, 1.0)) == (-Float64(pi), 0.0)
    @test_throws DomainError autodiff(Reverse, sinpi, Active, Active(Inf))
    @test both(x -> mod(x, 2.1)^2 + rem(x, 2.1) + x % 1.7, 7.3)
end

@testset "where Base asks for a number" begin
    # What it gives there, zero or the number itself, has another derivative.
    at(f, x, y) = all(d -> isapprox(d, y; atol = 1e-12), (autodiff(Reverse, f, Active, Active(x))[1][1], autodiff(Forward, f, Duplicated(x, one(x)))[1])) &&
        autodiff(ReverseWithPrimal, f, Active, Active(x))[2] == f(x)
    degree = pi / 180
    for x in (0.0, 30.0, 90.0, 180.0, -180.0, 270.0, 360.0, -450.0)
        @test at(sind, x, degree * cosd(x))
        @test at(cosd, x, -degree * sind(x))
    end
    @test at(tand, 0.0, degree) && at(tand, 180.0, degree) && at(cotd, 90.0, -degree) && at(cotd, 30.0, -degree / sind(30.0)^2) && at(x -> sum(sincosd(x)), 180.0, -degree)
    @test autodiff(Reverse, x -> sind(x) + cosd(x), Active, Active(180.0f0))[1][1] ≈ -Float32(degree)
    @test_throws DomainError autodiff(Reverse, sind, Active, Active(Inf))
    @test isnan(autodiff(Reverse, sind, Active, Active(NaN))[1][1])
    for x in (0.0, 1e-12, -1e-5, 0.1, 0.31, 0.33, 1.0, 2.5)
        slope = abs(x) < 0.1 ? -pi^2 * x / 3 + pi^4 * x^3 / 30 : cosc(x)
        @test autodiff(Reverse, sinc, Active, Active(x))[1][1] ≈ slope rtol = 1e-6
        abs(x) < 1e-4 && @test autodiff(Forward, cosc, Duplicated(x, 1.0))[1] ≈ -pi^2 / 3
        @test abs(x) < 0.1 || both(cosc, x)
    end
    @test autodiff(Reverse, x -> Float64(sinc(Float32(x))), Active, Active(0.5))[1][1] ≈ cosc(0.5) rtol = 1e-6
    @test autodiff(Reverse, sinc, Active, Active(Inf)) == ((0.0,),)
    @test hvp(v -> sinc(v[1]), [0.0], [1.0]) ≈ [-pi^2 / 3]
    for y in (0.0, 0.4)
        @test autodiff(Forward, x -> cosc(complex(x, 0.0)), Duplicated(y, 1.0))[1] ≈ autodiff(Forward, cosc, Duplicated(y, 1.0))[1]
        @test autodiff(Reverse, x -> real(acos(complex(x, 0.0))), Active, Active(y))[1][1] ≈ -1 / sqrt(1 - y^2)
    end
end

# Short functions, which Julia compiles into their callers: they are compiled anew when the first is refused.
@testset "parts of floats" begin
    @test both(x -> (f = frexp(x); ldexp(f[1]^2, f[2])), 7.3)
    @test both(x -> significand(x)^2 * nextfloat(x) * prevfloat(x) * (1 + eps(x)), 7.3)
    @test both(x -> sum(range(x; step = x^2, length = 4)), 0.33)
    @test both(x -> sum(sin.(range(x; step = x^2, length = 4) .* x .+ x)), 0.33)
    @test autodiff(Reverse, x -> frexp(x)[1], Active, Active(0.0)) == ((1.0,),)
    @test autodiff(Reverse, x -> frexp(x)[1], Active, Active(6.0)) == ((0.125,),)
end

@testset "along dimensions" begin
    A = [4.0 1 0.5; 0.3 5 1]
    along(f) = test_reverse(f, Active, (A, Duplicated)) && test_forward(f, Duplicated, (A, Duplicated))
    for d in 1:2
        @test along(A -> sum(abs2, cumsum(A; dims = d)))
        @test along(A -> sum(abs2, cumprod(A; dims = d)))
        @test along(A -> sum(abs2, prod(A; dims = d)) + sum(abs2, sum(A; dims = d)))
    end
    @test along(A -> sum(abs2, Statistics.mean(A; dims = 2)))
end
