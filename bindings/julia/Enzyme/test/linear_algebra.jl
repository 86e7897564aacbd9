# Products and norms through LinearAlgebra.

A45() = [sin(0.7i + 1.3j^2) for i in 1:4, j in 1:5]
B56() = [cos(0.3i^2 + 0.9j) for i in 1:5, j in 1:6]
v5() = [0.3, 0.5, -0.2, 0.8, 0.1]
v4() = [0.3, 0.5, -0.2, 0.8]
two(f, a, b) = test_reverse(f, Active, (a, Duplicated), (b, Duplicated)) && test_forward(f, Duplicated, (a, Duplicated), (b, Duplicated))

@testset "products" begin
    @test two((A, x) -> sum(A * x), A45(), v5())
    @test two((A, x) -> sum(abs2, A' * x), A45(), v4())
    @test two((A, B) -> sum(abs2, A * B), A45(), B56())
    @test two((A, B) -> sum(abs2, A' * B), permutedims(A45()), B56())
    @test two((A, B) -> sum(abs2, A * B'), A45(), permutedims(B56()))
    @test two((A, x) -> dot(x, A * x), [0.1 0.2; 0.3 0.4], [0.5, 0.6])
    @test two((x, y) -> dot(x, y), v5(), reverse(v5()))
    @test two((x, y) -> sum(x * y'), v5(), v4())
    @test two((A, x) -> sum(A * (A' * x)), A45(), v4())
    @test two((A, x) -> sum(view(A, :, 1:2) * view(x, 2:3)), A45(), v5())
    @test test_reverse((y, A, x) -> (mul!(y, A, x); nothing), Const, (zeros(4), Duplicated), (A45(), Duplicated), (v5(), Duplicated))
    @test test_reverse((y, A, x) -> (mul!(y, A, x, 2.0, 3.0); nothing), Const, (v4(), Duplicated), (A45(), Duplicated), (v5(), Duplicated))
    @test test_reverse((y, A, x, b) -> (mul!(y, A, x, 2.0, b); nothing), Const, (v4(), Duplicated), (A45(), Duplicated), (v5(), Duplicated), (0.0, Active))
    @test autodiff(Forward, (y, A, x) -> mul!(y, A, x)[1], Duplicated(fill(NaN, 4), zeros(4)), Const(A45()), Duplicated(v5(), ones(5)))[1] ≈ sum(A45()[1, :])
    @test test_reverse((a, x, y) -> (axpy!(a, x, y); nothing), Const, (0.5, Active), (v5(), Duplicated), (reverse(v5()), Duplicated))
    @test test_reverse((x, a) -> (rmul!(x, a); nothing), Const, (v5(), Duplicated), (0.5, Active))
    @test two((A, x) -> sum(A * x), rand(40, 30), rand(30))
    dA = zeros(3, 3)
    A = [1.0 2 7; 3 4 8; 5 6 9]
    autodiff(Reverse, A -> tr(A * A), Active, Duplicated(A, dA))
    @test dA ≈ 2A'
end

# What is read through pointers (BLAS) was stored as elements of arrays.
@testset "arrays made inside" begin
    both(f, x) = test_reverse(f, Active, (x, Duplicated)) && test_forward(f, Duplicated, (x, Duplicated))
    @test both(A -> (A * [1.0, 2.0, 3.0, 4.0, 5.0])[1], A45())
    @test both(A -> (M = A .* 2; y = zeros(4); mul!(y, M, [1.0, 2.0, 3.0, 4.0, 5.0]); y[1] * y[2]), A45())
    @test both(x -> (M = hcat(x, 2 .* x); sum(abs2, M * [1.0, 2.0])), v5())
    @test both(x -> dot([1.0, 2.0, 3.0, 4.0, x[5]], x), v5())
    @test both(x -> (y = zeros(5); p = pointer(y); GC.@preserve y (unsafe_store!(p, x[1]^2, 2); y[3] = x[2]); y[2] * unsafe_load(p, 3)), v5())
end

A33() = [2.0 0.3 0.1; 0.2 0.05 -0.4; 0.1 0.6 1.8]
S33() = [6.0 0.9 0.5; 0.9 4.0 -0.2; 0.5 -0.2 5.0]
v3() = [0.3, 0.7, -0.4]

@testset "factorisations" begin
    one(f, A) = test_reverse(f, Active, (A, Duplicated)) && test_forward(f, Duplicated, (A, Duplicated))
    @test one(det, A33())
    @test one(A -> logabsdet(A)[1], A33())
    @test one(A -> sum(abs2, inv(A)), A33())
    @test one(A -> sum(abs2, inv(cholesky(Symmetric(A)))), S33())
    @test one(A -> sum(abs2, cholesky(Symmetric(A)).U), S33())
    @test one(A -> sum(abs2, cholesky(Hermitian(A, :L)).L), S33())
    @test one(A -> logdet(cholesky(A'A + I)), A33())
    @test two((A, b) -> dot(b, cholesky(Symmetric(A)) \ b), S33(), v3())
    @test two((A, b) -> sum(abs2, lu(A) \ b), A33(), v3())
    @test two((A, b) -> sum(abs2, lu(A)' \ b), A33(), v3())
    @test two((A, B) -> sum(abs2, lu(A) \ B), A33(), [0.1 0.2; 0.3 0.4; 0.5 0.6])
    @test two((A, b) -> (x = copy(b); ldiv!(lu(A), x); x[1] * x[3]), A33(), v3())
    for form in (A -> UpperTriangular(A), A -> LowerTriangular(A), A -> UnitUpperTriangular(A), A -> UnitLowerTriangular(A))
        @test two((A, b) -> sum(abs2, form(A) \ b), S33(), v3())
        @test two((A, b) -> sum(abs2, form(A)' \ b), S33(), v3())
        @test two((A, b) -> sum(abs2, form(A) * b), S33(), v3())
        @test one(A -> sum(abs2, inv(form(A))), S33())
    end
    @test two((A, b) -> dot(b, Symmetric(A) * b), A33(), v3())
    @test two((A, B) -> sum(abs2, Symmetric(A, :L) * B), A33(), S33())
    @test_throws SingularException autodiff(Reverse, A -> det(inv(A)), Active, Duplicated(ones(2, 2), zeros(2, 2)))
    @test_throws PosDefException autodiff(Reverse, A -> logdet(cholesky(Symmetric(A))), Active, Duplicated([1.0 2.0; 2.0 1.0], zeros(2, 2)))
    # The header of a matrix that is made inside is read where it was written.
    @test autodiff(Forward, A -> (B = copy(A); C = permutedims(B); C[2, 1] * B[1, 2]), Duplicated([1.0 2.0; 3.0 4.0], [0.0 1.0; 0.0 0.0])) == (4.0,)
end

@testset "norms" begin
    @test test_reverse(norm, Active, (v5(), Duplicated))
    @test test_reverse(norm, Active, (sin.(1:40.0), Duplicated))
    @test test_reverse(x -> norm(x, 1), Active, (v5(), Duplicated))
    @test test_reverse(x -> sum(normalize(x) .* [1, 2, 3, 4, 5]), Active, (v5(), Duplicated))
    @test test_reverse(A -> norm(A), Active, (A45(), Duplicated))
    # The address of the data is read as a number where it goes to functions of several callers.
    every(A) = cond(A) + norm(A) * opnorm(A) + cond(A, 1) + norm(A, 1)
    @test test_reverse(every, Active, ([4.0 1 0.5; 0.3 5 1; 0.2 0.1 3], Duplicated)) && test_forward(every, Duplicated, ([4.0 1 0.5; 0.3 5 1; 0.2 0.1 3], Duplicated))
    @test test_reverse(A -> tr(A), Active, ([0.1 0.2; 0.3 0.4], Duplicated))
    @test test_reverse(A -> sum(diag(A) .^ 2), Active, ([0.1 0.2; 0.3 0.4], Duplicated))
    @test test_reverse(x -> sum(cross(x, [1.0, 2.0, 3.0]) .^ 2), Active, ([0.1, 0.2, 0.3], Duplicated))
end

square(x) = [x[1] x[2]; x[3] 2.0]

# The derivative of a factor is there where the factor is zero, too, which Julia's own code asks.
@testset "factors that are zero" begin
    x, C2, C3 = [1.3, -0.4, 2.2], [1.0 2; 3 4], ones(3, 3)
    good(f) = test_reverse(f, Active, (x, Duplicated)) && test_forward(f, Duplicated, (x, Duplicated))
    weigh(C) = sum(C .* (1:size(C, 1)))
    for (a, b) in ((x -> 1.0, x -> x[1] - 1.3), (x -> x[1] - 1.3, x -> 1.0), (x -> x[2], x -> x[1] - 1.3), (x -> true, x -> x[1] - 1.3), (x -> x[1] - 1.3, x -> x[2] + 0.4))
        @test good(x -> weigh(mul!(copy(C2), square(x), square(x), a(x), b(x))))
        @test good(x -> weigh(mul!(copy(C2), square(x)', square(x), a(x), b(x))))
        @test good(x -> (A = square(x); weigh(mul!(copy(C2), A', A, a(x), b(x)))))
        @test good(x -> weigh(mul!(copy(C3), x * x', x * x', a(x), b(x))))
        @test good(x -> weigh(mul!(ones(3), x * x', x, a(x), b(x))))
    end
    @test good(x -> weigh(mul!(ones(2, 2), [1 2 3; 4 5 6], [x x .^ 2], x[1], x[2] + 0.4)))
    @test good(x -> weigh(mul!(ones(2, 2), view([x x .^ 2; x x], 1:2:4, 1:2), view([x x .^ 2], 1:2, 1:2), x[1], x[2] + 0.4)))
    @test good(x -> weigh(mul!(ones(3), x, 2.0, x[1] - 1.3, x[2] + 0.4)) + weigh(mul!(ones(3), 2.0, x, x[2] + 0.4, x[1] - 1.3)))
    @test good(x -> weigh(mul!(ones(3, 3), Diagonal(x), x * x', x[1], x[2] + 0.4)))
    @test good(x -> weigh(mul!(ones(3), Diagonal(x), x .* x, 1.0, x[2] + 0.4)) + weigh(mul!(ones(3), Diagonal(x), x, x[2] + 0.4, 1.0)))
    @test good(x -> weigh(axpby!(x[1] - 1.3, x, x[2] + 0.4, ones(3))))
    @test good(x -> cond(square(x)) + cond(square(x), 1) * cond(square(x), Inf))
    @test autodiff(Forward, cond, Duplicated(zeros(2, 2), zeros(2, 2)), Const(1)) == (0.0,)
    # Of what is no number nothing is left where its factor is zero, as always.
    @test mul!(fill(NaN, 2, 2), C2, C2, 1.0, 0.0) == C2 * C2
    @test autodiff(Forward, x -> sum(mul!(fill(NaN, 2, 2), square(x), C2, 1.0, 0.0)), Duplicated(x, [1.0, 0, 0])) == (3.0,)
end
