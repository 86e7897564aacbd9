# gradient, jacobian, products with the Hessian, shadows.

f2(v) = v[1]^2 * v[2] + sin(v[1])
g2(v) = [v[1] * v[2], v[2]^2, sin(v[1])]

@testset "gradient" begin
    @test gradient(Reverse, v -> sum(abs2, v), [1.0, 2.0]) == ([2.0, 4.0],)
    @test gradient(Forward, v -> sum(abs2, v), [1.0, 2.0]) == ([2.0, 4.0],)
    @test gradient(ReverseWithPrimal, v -> sum(abs2, v), [1.0, 2.0]) == (derivs = ([2.0, 4.0],), val = 5.0)
    @test gradient(ForwardWithPrimal, v -> sum(abs2, v), [1.0, 2.0]) == (derivs = ([2.0, 4.0],), val = 5.0)
    @test gradient(Reverse, (x, y) -> x * y, 2.0, 3.0) == (3.0, 2.0)
    @test gradient(Reverse, (x, v) -> x * sum(v), 2.0, [3.0, 4.0]) == (7.0, [2.0, 2.0])
    @test gradient(Reverse, (x, n) -> x^n, 2.0, Const(3)) == (12.0, nothing)
    @test gradient(Reverse, t -> t[1] * sum(t[2]), (2.0, [3.0, 4.0])) == ((7.0, [2.0, 2.0]),)
    @test gradient(Forward, x -> x^3, 2.0) == (12.0,)
    @test gradient(Forward, v -> sum(v .^ 2), collect(1.0:20.0))[1] == 2 .* (1.0:20.0)
    @test gradient(Forward, v -> sum(v .^ 2), collect(1.0:5.0); chunk = Val(2))[1] == 2 .* (1.0:5.0)
    @test gradient(Forward, m -> sum(m .^ 2), [1.0 2.0; 3.0 4.0])[1] == [2.0 4.0; 6.0 8.0]
    dx = [5.0, 5.0]
    @test gradient!(Reverse, dx, f2, [1.0, 2.0]) === (dx,)
    @test dx ≈ [4 + cos(1.0), 1.0]
end

@testset "jacobian" begin
    expected = [3 2; 0 6; cos(2.0) 0]
    @test jacobian(Forward, g2, [2.0, 3.0])[1] ≈ expected
    @test jacobian(Reverse, g2, [2.0, 3.0])[1] ≈ expected
    @test jacobian(ReverseWithPrimal, g2, [2.0, 3.0]).val ≈ g2([2.0, 3.0])
    @test jacobian(Reverse, g2, [2.0, 3.0]; chunk = Val(2))[1] ≈ expected
    @test jacobian(Forward, g2, [2.0, 3.0]; chunk = Val(1))[1] ≈ expected
    @test size(jacobian(Forward, m -> m .^ 2, [1.0 2.0; 3.0 4.0])[1]) == (2, 2, 2, 2)
    @test jacobian(Forward, m -> m .^ 2, [1.0 2.0; 3.0 4.0])[1][2, 1, 2, 1] == 6.0
    @test jacobian(Reverse, m -> m .^ 2, [1.0 2.0; 3.0 4.0])[1][2, 1, 2, 1] == 6.0
end

@testset "several arguments" begin
    h(x, y) = sum(x) * y^2 + x[1]
    x = [1.0, 2.0]
    @test gradient(Forward, h, x, 2.0) == ([5.0, 4.0], 12.0) == gradient(Reverse, h, x, 2.0)
    @test gradient(Forward, h, x, Const(2.0)) == ([5.0, 4.0], nothing) && gradient(Forward, h, Const(x), 2.0; chunk = Val(1)) == (nothing, 12.0)
    @test gradient(ForwardWithPrimal, h, x, 2.0) == (derivs = ([5.0, 4.0], 12.0), val = 13.0)
    @test gradient(Forward, h, x, 2.0; shadows = (onehot(x), (1.0,))) == ([5.0, 4.0], 12.0)
    @test_throws ArgumentError gradient(Forward, h, Duplicated(x, x .+ 1), 2.0)
    for mode in (Forward, Reverse)
        @test jacobian(mode, (x, y) -> x .* y, x, [3.0, 4.0]) == ([3.0 0; 0 4], [1.0 0; 0 2])
        @test jacobian(mode, (x, y) -> x .* y, x, Const([3.0, 4.0])) == ([3.0 0; 0 4], nothing)
        @test jacobian(mode, x -> [x, x^2], 3.0)[1] == [1.0, 6.0]
        @test jacobian(mode, (x, y) -> [x * y[1], x^2], 3.0, x) == ([1.0, 6.0], [3.0 0; 0 0])
    end
    @test jacobian(ReverseWithPrimal, (x, y) -> x .* y, x, [3.0, 4.0]).val == [3.0, 8.0]
    @test jacobian(Reverse, g2, [2.0, 3.0]; chunk = Val(1), n_outs = Val((3,)))[1] ≈ [3 2; 0 6; cos(2.0) 0]
    @test_throws ArgumentError jacobian(Reverse, t -> [t[1]], (1.0, 2.0))
end

@testset "second derivatives" begin
    @test hvp(v -> v[1]^2 * v[2], [2.0, 3.0], [1.0, 0.0]) == [6.0, 4.0]
    @test hvp(v -> sum(v .^ 3), [2.0, 3.0], [1.0, 1.0]) == [12.0, 18.0]
    out = [9.0, 9.0]
    hvp!(out, v -> v[1]^2 * v[2], [2.0, 3.0], [0.0, 1.0])
    @test out == [4.0, 0.0]
    product, grad = zeros(2), zeros(2)
    hvp_and_gradient!(product, grad, v -> v[1]^2 * v[2], [2.0, 3.0], [1.0, 0.0])
    @test product == [6.0, 4.0] && grad == [12.0, 4.0]
    @test hvp(f2, [0.3, 0.4], [0.0, 1.0]) ≈ [0.6, 0.0]
end

mutable struct Pair2
    a::Float64
    b::Vector{Float64}
    name::String
end

@testset "shadows" begin
    @test onehot([1.0, 2.0]) == ([1.0, 0.0], [0.0, 1.0])
    @test onehot((1.0, 2.0)) == ((1.0, 0.0), (0.0, 1.0))
    @test make_zero(3.0) === 0.0
    @test make_zero([1.0, 2.0]) == [0.0, 0.0]
    @test make_zero((1.0, 2, "a")) === (0.0, 2, "a")
    p = Pair2(1.0, [2.0], "x")
    z = make_zero(p)
    @test z.a == 0.0 && z.b == [0.0] && z.name === p.name && z.b !== p.b
    shared = [1.0]
    both_of = make_zero([shared, shared])
    @test both_of[1] === both_of[2]
    make_zero!(p)
    @test p.a == 0.0 && p.b == [0.0]
    v = [(1.0, 2), (3.0, 4)]
    make_zero!(v)
    @test v == [(0.0, 2), (0.0, 4)]
    loop = Any[1.0]
    push!(loop, loop)
    zero_loop = make_zero(loop)
    @test zero_loop[1] == 0.0 && zero_loop[2] === zero_loop
end

@testset "the checks themselves" begin
    @test test_reverse(x -> x^2, Active, (3.0, Active))
    wrong(x) = x > 2.9999999 ? x^2 : 0.0
    @test_throws ErrorException test_reverse(wrong, Active, (2.9999999, Active))
end

@testset "units in chunks" begin
    @test chunkedonehot([1.0, 2.0, 3.0], Val(2)) == (([1.0, 0.0, 0.0], [0.0, 1.0, 0.0]), ([0.0, 0.0, 1.0],))
    @test chunkedonehot((1.0, 2.0, 3.0), Val(2)) == (((1.0, 0.0, 0.0), (0.0, 1.0, 0.0)), ((0.0, 0.0, 1.0),))
    x = [1.0]
    remake_zero!(x)
    @test x == [0.0]
end

@testset "compiled with the package" begin
    # A signature that no method has would be inferred while the first derivative is awaited.
    @test all(last, Enzyme.named)
end
