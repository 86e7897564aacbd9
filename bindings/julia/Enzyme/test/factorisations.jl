# Quotients, QR, eigenvalues, singular values and functions of matrices; matrices that look like triangular, symmetric or singular ones. One way of each
# in both modes: it is much code that Julia compiles.

both(f, A) = test_reverse(f, Active, (A, Duplicated)) && test_forward(f, Duplicated, (A, Duplicated))
both(f, A, b) = test_reverse(f, Active, (A, Duplicated), (b, Duplicated)) && test_forward(f, Duplicated, (A, Duplicated), (b, Duplicated))
back(f, A) = test_reverse(f, Active, (A, Duplicated))
back(f, A, b) = test_reverse(f, Active, (A, Duplicated), (b, Duplicated))
square() = [4.0 1 0.5; 0.3 5 1; 0.2 0.7 6]
tall() = [2.0 0.3; 0.5 1.4; 0.7 -0.2]
wide() = [2.0 0.5 0.7; 0.3 1.4 -0.2]
const weights = [1.0 2 3; 4 5 6; 7 8 10]
weigh(A) = sum(A .* view(weights, axes(A)...))
weigh(x::AbstractVector) = sum(x .* (1:length(x)))

@testset "quotients" begin
    b = [0.3, 0.8, 1.1]
    @test both((A, b) -> weigh(A \ b), square(), b)
    @test both((A, b) -> weigh(A \ b), tall(), b)
    @test both((A, b) -> weigh(A \ b), wide(), [0.3, 0.7])
    @test back((A, B) -> weigh(A \ B), wide(), [0.3 0.7; 0.1 0.2])
    @test back((A, b) -> weigh(Symmetric(A) \ b), square(), b)
    @test back((A, b) -> weigh(b' / A), square(), b)
    @test both((A, B) -> weigh(B / A), square(), weights / 10)
    @test back((A, b) -> weigh(A' \ b), square(), b)
    @test back(A -> weigh(A \ [1, 2]), [1.0 0; 0 3])
    for form in (A -> UpperTriangular(A), A -> UnitLowerTriangular(A))
        @test both((A, B) -> weigh(form(A) * B), square(), weights / 10)
        @test back((A, B) -> weigh(B / form(A)'), square(), weights / 10)
    end
    @test back((A, B) -> weigh(B * UnitLowerTriangular(A)), square(), weights / 10)
    @test back((A, B) -> weigh(UpperTriangular(A)' \ B), square(), weights / 10)
    @test_throws ArgumentError gradient(Reverse, A -> sum(A \ [1.0, 2, 3]), [1.0 2; 2 4; 3 6])
    @test_throws SingularException gradient(Reverse, A -> sum(A \ [1.0, 2]), [1.0 2; 2 4])
    @test_throws DimensionMismatch gradient(Reverse, A -> sum(A \ [1.0, 2, 3]), [1.0 2; 2 4])
end

# What looks special has the derivative of all matrices.
@testset "structure" begin
    for A in ([1.0 2; 0 3], [1.0 0; 2 3], [2.0 0; 0 3])
        @test both(det, A)
        @test both(A -> weigh(inv(A)), A)
        @test both((A, b) -> weigh(A \ b), A, [0.3, 0.7])
        @test both(A -> weigh(exp(A)), A)
    end
    @test gradient(Reverse, det, [1.0 2; 2 4])[1] ≈ [4 -2; -2 1]
    @test gradient(Reverse, det, [0.0 1; 0 2])[1] ≈ [2 0; -1 0]
    @test gradient(Reverse, det, zeros(3, 3))[1] == zeros(3, 3)
    @test back(A -> weigh(pinv(A)), [2.0 0; 0 3])
    @test back(A -> weigh(inv(Symmetric(A))) + det(Symmetric(A)) / 10, square())
end

@testset "QR" begin
    @test both(A -> sum(abs2.(qr(A).R) .* [1 2; 3 4]), tall())
    # The reflections themselves: R stays as it is if all columns that are left are zero.
    @test both(A -> abs(qr(A).R[1, 1]), [2.0 0.3; 0 1.4; 0 0.1])
end

@testset "eigenvalues" begin
    @test both(A -> weigh(eigvals(Symmetric(A))), square())
    @test back(A -> weigh(eigvals(Symmetric(A, :L), 2:3)), square())
    @test both(A -> (F = eigen(Symmetric(A)); weigh(abs2.(F.vectors)) * F.values[1]), square())
    @test both(A -> weigh(eigvals(Symmetric(A))), [1.0 0 0; 0 2 0; 0 0 3])
    @test both(A -> (F = eigen(Symmetric(A)); weigh(F.vectors * Diagonal(F.values .^ 2) * F.vectors')), [1.0 0 0; 0 2 0; 0 0 3])
    @test back(A -> weigh(exp(Symmetric(A))), square() / 4)
    # Values that coincide: their sum has a derivative, their vectors have none.
    @test gradient(Reverse, A -> sum(eigvals(Symmetric(A))), [2.0 0; 0 2])[1] ≈ [1 0; 0 1]
    @test !all(isfinite, gradient(Reverse, A -> weigh(eigen(Symmetric(A)).vectors), [2.0 0; 0 2])[1])
    f(x) = (F = eigen(Symmetric(reshape(x, 3, 3))); sum(abs2.(F.vectors) .* [1, 2, 4]) * F.values[1])
    x, v, h = vec(square()), sin.(1:9.0), 1e-6
    @test isapprox(hvp(f, x, v), (gradient(Reverse, f, x + h * v)[1] - gradient(Reverse, f, x - h * v)[1]) / 2h; rtol = 1e-6)
end

@testset "singular values" begin
    @test both(A -> weigh(svdvals(A)), tall())
    @test both(A -> (F = svd(A); weigh(F.U * Diagonal(F.S .^ 2) * F.Vt)), tall())
    @test both(A -> (F = svd(A); weigh(abs2.(F.U)) + weigh(abs2.(F.Vt)) + F.S[1] * F.S[2]), wide())
    @test back(A -> weigh(pinv(A)), tall())
    @test back(A -> weigh(pinv(A)), wide())
    # Nothing hangs on the vectors of a singular value that is zero.
    @test gradient(Reverse, A -> sum(abs2, svdvals(A)), [1.0 0; 0 0])[1] ≈ [2 0; 0 0] rtol = 1e-12
    @test_throws ArgumentError gradient(Reverse, A -> sum(svd(A; full = true).U), tall())
end

@testset "exponential" begin
    @test back(A -> weigh(exp(A)), square() / 4)
    @test back(A -> weigh(exp(A)), (square() + square()') / 6)
    @test back(A -> weigh(exp(A)) / 1e5, 2square())
    @test autodiff(Forward, A -> exp(A), Duplicated(zeros(2, 2), [0.0 1; 0 0]))[1] ≈ [0 1; 0 0]
end
