# What functions of Base compute that are given methods for derivatives (src/unrolled.jl): the same as before for all others, and in derivatives for unusual arguments.

@testset "derivatives change no other function" begin
    # Julia interprets what it would have to compile for a few thousand calls, which takes longer.
    questions = joinpath(@__DIR__, "questions.jl")
    @test success(pipeline(`$(Base.julia_cmd()) --compile=min -O0 --startup-file=no $questions`; stdout = stdout, stderr = stderr))
end

two(f, x) = test_reverse(f, Active, (x, Duplicated)) && test_forward(f, Duplicated, (x, Duplicated))
A23() = [4.0 1 0.5; 0.3 5 1]
B222() = reshape([1.3, -0.4, 2.2, 0.7, 1.9, 0.2, -1.1, 0.5], 2, 2, 2)
B1222() = reshape(B222(), 1, 2, 2, 2)

@testset "unusual arguments" begin
    @test two(A -> sum(maximum(abs, A; dims = 1) .^ 2) + sum(maximum(abs2, A; dims = 2)) + sum(minimum(abs, A; dims = (1, 2))), A23())
    @test two(A -> sum(cat(A, 2A; dims = 3) .^ 2) + sum(abs2, cat(A, A; dims = Val(1))), A23())
    @test two(A -> sum(mapslices(x -> sum(x)^2, A; dims = (1, 2, 3))) + sum(mapslices(x -> x .* sum(x), A; dims = (1, 3)) .^ 2), B222())
    @test two(A -> sum(mapslices(x -> sum(x)^2, A; dims = (2, 4))) + sum(mapslices(cumsum, A; dims = 3) .^ 2), B1222())
    @test two(A -> sum(mapslices(prod, A; dims = [1, 2])) + sum(mapslices(prod, A; dims = [3])) + sum(mapslices(sum, A; dims = [1, 2, 3])), B222())
    @test two(A -> (t = 0.0; for s in eachslice(A; dims = 4); t += prod(s); end; for s in eachslice(A; dims = 2); t += prod(s)^2; end; for s in eachslice(A; dims = (3,)); t += sum(s)^2; end; t), B1222())
    @test two(A -> sum([A[1, :]' A[1:1, :]] .^ 2) + sum(Float64[A[1, :]' A[2, :]'] .^ 2) + sum([A A[:, 2]; A[1, :]' A[1, 1]]), A23()[:, 1:1] .* [1.0 2.0])
    @test two(A -> sum(repeat(A; inner = (2, 1), outer = (1, 3)) .^ 2) + sum(repeat(A, 2, 2)), A23())
    @test two(A -> sum(diagm(UInt(1) => A[1, :], 0 => A[2, :]) .^ 2), A23())
    @test two(v -> (D = Dict(k => v[k]^2 for k in 1:3); E = Dict(zip("ab", v)); D[1] * D[3] * E['b']), [1.3, 0.4, 2.2])
    @test two(A -> (C = fill(NaN, 2, 2); mul!(C, A, A', 2.0, 0.0); D = fill(1.0, 2, 3); mul!(D, Diagonal(A[:, 1]), A, A[1, 1], A[1, 2]); sum(C .^ 2) + sum(D .^ 2)), A23())
end

@testset "errors within derivatives are Base's" begin
    caught(f) = try; f(); catch e; sprint(showerror, e); end
    for f in Any[A -> sum(cat(A, A[1:1, :]; dims = 2)), A -> sum(sum(s) for s in eachslice(A; dims = 3)), A -> sum(sum(s) for s in eachslice(A; dims = (1, 2))), A -> sum(mapslices(sum, A; dims = 3)), A -> sum(repeat(A; inner = (-1, 1))),
        A -> sum([A A[:, 1]; A A]), A -> sum(maximum(A[:, 1:0]; dims = 2)), A -> sum(hcat(A, A[1:1, :])), A -> sum(maximum(A; dims = 0))]
        @test caught(() -> f(A23())) == caught(() -> autodiff(Reverse, f, Active, Duplicated(A23(), zeros(2, 3))))
    end
end
