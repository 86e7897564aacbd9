# Derivatives of functions that ask for derivatives: second and third order, inside larger programs.

rosenbrock2(x) = (1 - x[1])^2 + 100 * (x[2] - x[1]^2)^2
hessian(x) = [2 - 400x[2] + 1200x[1]^2 -400x[1]; -400x[1] 200.0]
slope(f, x) = autodiff(Forward, f, Duplicated(x, 1.0))[1]
back_slope(f, x) = autodiff(Reverse, f, Active, Active(x))[1][1]
into!(x, dx) = (autodiff_deferred(Reverse, Const(rosenbrock2), Active, Duplicated(x, dx)); nothing)
x2() = [1.2, 0.5]

@testset "of numbers" begin
    for outer in (slope, back_slope), inner in (slope, back_slope)
        @test outer(x -> inner(sin, x), 0.7) ≈ -sin(0.7)
        @test outer(x -> x * inner(y -> y^3 * x, x), 0.7) ≈ 12 * 0.7^3
    end
    for a in (slope, back_slope), b in (slope, back_slope), c in (slope, back_slope)
        @test a(x -> b(y -> c(exp, 2y), x), 0.3) ≈ 4exp(0.6)
    end
    # What the inner function captures is active in the outer one only.
    @test test_reverse((x, p) -> slope(y -> p[1] * y^3 + p[2] * sin(y), x), Active, (0.7, Active), ([1.5, 0.4], Duplicated))
    @test test_forward((x, p) -> back_slope(y -> p[1] * y^3 + p[2] * sin(y), x), Duplicated, (0.7, Duplicated), ([1.5, 0.4], Duplicated))
end

@testset "of arrays" begin
    x, v = x2(), [1.0, 2.0]
    b, db = zeros(2), zeros(2)
    autodiff(Forward, into!, Const, Duplicated(x, v), Duplicated(b, db))
    @test db ≈ hessian(x) * v && b ≈ gradient(Reverse, rosenbrock2, x)[1]
    b, db = zeros(2), (zeros(2), zeros(2))
    autodiff(Forward, into!, Const, BatchDuplicated(x, onehot(x)), BatchDuplicated(b, db))
    @test hcat(db...) ≈ hessian(x)
    x, dx, b, db = x2(), zeros(2), zeros(2), [1.0, 2.0]
    autodiff(Reverse, into!, Const, Duplicated(x, dx), Duplicated(b, db))
    @test dx ≈ hessian(x2()) * [1.0, 2.0]
    for mode in (Forward, Reverse)
        @test jacobian(mode, x -> gradient(Reverse, rosenbrock2, x)[1], x2())[1] ≈ hessian(x2())
        @test jacobian(mode, x -> gradient(Forward, rosenbrock2, x)[1], x2())[1] ≈ hessian(x2())
        @test gradient(mode, x -> sum(abs2, gradient(Reverse, rosenbrock2, x)[1]), x2())[1] ≈ 2hessian(x2()) * gradient(Reverse, rosenbrock2, x2())[1]
    end
    # The third derivatives, summed along one side, times v.
    @test hvp(x -> sum(gradient(Reverse, rosenbrock2, x)[1]), x2(), v) ≈ [2400 * 1.2 - 400 -400; -400 0] * v
    @test test_reverse(v -> sum(abs2, jacobian(Forward, w -> w .^ 2 .* w[1], v)[1]), Active, ([1.3, -0.4, 2.2], Duplicated))
    @test test_reverse(v -> sum(abs2, autodiff(Forward, w -> w .^ 2 .* w[1], Duplicated(v, ones(3)))[1]), Active, ([1.3, -0.4, 2.2], Duplicated))
end

struct Net
    W1::Matrix{Float64}
    b1::Vector{Float64}
    W2::Matrix{Float64}
end
at(n::Net, x) = (n.W2 * tanh.(n.W1 * [x] .+ n.b1))[1]
first_of(n, x) = autodiff(Forward, Const(at), Duplicated, Const(n), Duplicated(x, 1.0))[1]
second_of(n, x) = autodiff(Forward, Const(first_of), Duplicated, Const(n), Duplicated(x, 1.0))[1]
# Not asked for before, from the inside out: inference does not know what these return.
residual(n) = sum(x -> (second_of(n, x) + sin(x))^2, (0.1, 0.5, 0.9))

pairs_energy(q) = (e = 0.0; for i in 1:3, j in 1:(i - 1); e += 1 / ((q[i] - q[j])^2 + 0.1); end; e)
function moved_by_forces(q0)
    q, v = copy(q0), zeros(3)
    for _ in 1:5
        f = zeros(3)
        autodiff(Reverse, pairs_energy, Active, Duplicated(q, f))
        v .-= 0.01 .* f
        q .+= 0.01 .* v
    end
    sum(abs2, q)
end
root(a) = (x = 1.0; for _ in 1:6; f(y) = y^3 - a * y - 1; x -= f(x) / autodiff(Forward, f, Duplicated(x, 1.0))[1]; end; x)
calls_at_run_time(x) = autodiff(Reverse, y -> Any[sin, y][1](y), Active, Active(x))[1][1]
@noinline ruled(x) = x^2
EnzymeRules.@easy_rule(ruled(x::Float64), (2x,))

@testset "in programs" begin
    n = Net(reshape([0.5, -0.3, 0.8], 3, 1), [0.1, 0.2, -0.3], [0.3 -0.7 0.2])
    @test test_reverse(residual, Active, (n, Duplicated)) && test_forward(residual, Duplicated, (n, Duplicated))
    @test test_reverse(moved_by_forces, Active, ([0.0, 1.0, 2.2], Duplicated)) && test_forward(moved_by_forces, Duplicated, ([0.0, 1.0, 2.2], Duplicated))
    @test test_reverse(root, Active, (0.8, Active)) && test_forward(root, Duplicated, (0.8, Duplicated))
    @test test_reverse(v -> (r = autodiff(ReverseWithPrimal, x -> x^2 * v[2], Active, Active(v[1])); r[1][1] * r[2]), Active, ([1.3, -0.4], Duplicated))
    GC.gc()
    @test test_reverse(residual, Active, (n, Duplicated))
end

@testset "what is refused" begin
    for f in (calls_at_run_time, x -> slope(ruled, x), x -> hvp(v -> v[1]^3, [x], [1.0])[1])
        @test_throws Enzyme.EnzymeError autodiff(Reverse, f, Active, Active(0.7))
    end
    @test calls_at_run_time(0.7) ≈ cos(0.7) && slope(ruled, 0.7) ≈ 1.4
end
