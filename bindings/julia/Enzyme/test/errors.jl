# Exceptions of programs, refusals of the engine, misuse: all as Julia exceptions.

unknown_to_engine(x) = ccall(:significand, Float64, (Float64,), x)
message(e) = sprint(showerror, e)
thrown(f) = try
    f()
    nothing
catch e
    e
end

@testset "of the program" begin
    @test_throws DomainError autodiff(Reverse, log, Active, Active(-1.0))
    @test_throws DomainError autodiff(Forward, sqrt, Duplicated(-1.0, 1.0))
    @test_throws BoundsError autodiff(Reverse, v -> v[10], Active, Duplicated([1.0], [0.0]))
    @test_throws BoundsError autodiff(Forward, v -> v[0], Duplicated([1.0], [0.0]))
    @test_throws ErrorException autodiff(Reverse, x -> x > 0 ? error("too large: $x") : x, Active, Active(1.0))
    @test_throws ArgumentError autodiff(Reverse, x -> (x > 0 && throw(ArgumentError("no")); x), Active, Active(1.0))
    @test_throws DimensionMismatch autodiff(Reverse, (A, x) -> sum(A * x), Active, Duplicated(ones(2, 3), zeros(2, 3)), Duplicated(ones(2), zeros(2)))
    @test_throws InexactError autodiff(Reverse, x -> x * Int(floor(x) + 0.5), Active, Active(1.0))
    @test_throws DivideError autodiff(Reverse, (x, n) -> x * div(1, n), Active, Active(1.0), Const(0))
    @test message(thrown(() -> autodiff(Reverse, x -> x > 0 ? error("too large: $x") : x, Active, Active(1.0)))) == "too large: 1.0"
    # All goes on afterwards.
    @test autodiff(Reverse, x -> x^2, Active, Active(3.0)) == ((6.0,),)
    @test GC.enable(true)
end

@testset "of the engine" begin
    f(x) = try
        sqrt(x)
    catch
        0.0
    end
    e = thrown(() -> autodiff(Reverse, f, Active, Active(1.0)))
    @test e isa Enzyme.EnzymeError
    @test occursin("try/catch", message(e))
    e = thrown(() -> autodiff(Reverse, unknown_to_engine, Active, Active(1.0)))
    @test e isa Enzyme.EnzymeError && e.items[1].code == "E0201" && occursin("'significand'", message(e)) && occursin("errors.jl", message(e))
    e = thrown(() -> autodiff(Reverse, x -> Any[x, 1][1] * 2, Active, Active(1.0)))
    @test e isa Enzyme.EnzymeError && occursin("not inferred", message(e))
    e = thrown(() -> autodiff(Reverse, x -> (s = 0.0; for y in Any[x, x]; s += y::Float64; end; s), Active, Active(1.0)))
    @test e === nothing || e isa Enzyme.EnzymeError
    # Bits of an argument that are computed with as integers ought to be refused; the derivative is zero (docs/julia.md).
    e = thrown(() -> autodiff(Reverse, x -> reinterpret(Float64, reinterpret(Int64, x) * 3), Active, Active(1.0)))
    @test_broken e isa Enzyme.EnzymeError
end

@testset "misuse" begin
    @test_throws ArgumentError Active(3)
    @test_throws ArgumentError Active([1.0])
    @test_throws ArgumentError Active("text")
    @test_throws ArgumentError Duplicated([1.0], [1.0, 2.0])
    @test_throws ArgumentError Duplicated([1.0], [1])
    @test_throws ArgumentError (x = [1.0]; Duplicated(x, x))
    @test_throws ArgumentError autodiff(Reverse, x -> x^2, Active, Duplicated(1.0, 0.0))
    @test_throws ArgumentError autodiff(Forward, x -> x^2, Active(1.0))
    @test_throws ArgumentError autodiff(Forward, x -> x^2, Active, Duplicated(1.0, 1.0))
    @test_throws ArgumentError autodiff(Reverse, x -> x^2, Active, 1.0)
    @test_throws ArgumentError autodiff(Reverse, x -> [x], Active(1.0))
    @test_throws ArgumentError autodiff(Reverse, x -> [x], Duplicated, Active(1.0))
    @test_throws ArgumentError autodiff(Forward, (x, y) -> x * y, BatchDuplicated(1.0, (1.0, 2.0)), Duplicated(1.0, 1.0))
    @test_throws ArgumentError autodiff(Forward, (x, y) -> x * y, BatchDuplicated(1.0, (1.0, 2.0)), BatchDuplicated(1.0, (1.0, 2.0, 3.0)))
    @test occursin("use Const", message(thrown(() -> Active(3))))
    @test_throws Enzyme.EnzymeError autodiff(Reverse, x -> "text", Active, Active(1.0))
    @test_throws MethodError autodiff(Reverse, (x, y) -> x, Active, Active(1.0))
end
