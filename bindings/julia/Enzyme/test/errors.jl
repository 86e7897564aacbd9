# Exceptions of programs, refusals of the engine, misuse: all as Julia exceptions.

unknown_to_engine(x) = ccall(:significand, Float64, (Float64,), x)
message(e) = sprint(showerror, e)
thrown(f) = try
    f()
    nothing
catch e
    e
end

mutable struct Owner
    v::Vector{Float64}
end
function filled(s, t, x)
    a = x > 100 ? s.v : t.v
    for i in 1:3
        a[i] = i * x
    end
    sum(abs2, a)
end

@testset "found when it runs" begin
    s = Owner(zeros(3))
    # Memory that is its own shadow is constant.
    @test_throws ErrorException autodiff(set_runtime_activity(Reverse), filled, Duplicated(s, Owner(zeros(3))), Const(Owner(zeros(3))), Active(2.0))
    @test_throws ErrorException autodiff(set_runtime_activity(Forward), filled, Duplicated(s, Owner(zeros(3))), Const(Owner(zeros(3))), Duplicated(2.0, 1.0))
    e = thrown(() -> autodiff(set_runtime_activity(Reverse), filled, Duplicated(s, Owner(zeros(3))), Const(Owner(zeros(3))), Active(2.0)))
    @test occursin("[E0302]", message(e)) && occursin("errors.jl:", message(e))
    @test_throws ArgumentError Duplicated(s, s)
    @test autodiff(Reverse, filled, Duplicated(s, Owner(zeros(3))), Duplicated(s, Owner(zeros(3))), Active(2.0))[1][3] == 56
end

@testset "of the program" begin
    @test_throws DomainError autodiff(Reverse, log, Active, Active(-1.0))
    # A function that always throws, as inference sees.
    @test_throws ArgumentError autodiff(Reverse, x -> throw(ArgumentError("$x")), Active, Active(1.0))
    @test_throws MethodError autodiff(ReverseWithPrimal, x -> string(x, base = 10), Active(1.0))
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
    e = thrown(() -> autodiff(Reverse, unknown_to_engine, Active, Active(1.0)))
    @test e isa Enzyme.EnzymeError && e.items[1].code == "E0201" && occursin("'significand'", message(e)) && occursin("errors.jl", message(e))
    e = thrown(() -> autodiff(Reverse, x -> Any["text", x][1], Active, Active(1.0)))
    @test e isa ArgumentError && occursin("it is a String, no float", message(e))
    e = thrown(() -> autodiff(Reverse, x -> Any[unknown_to_engine][1](x), Active, Active(1.0)))
    @test e isa Enzyme.EnzymeError && occursin("'significand'", message(e)) && occursin("dispatched at run time, of unknown_to_engine", message(e))
    @test_throws BoundsError autodiff(Reverse, x -> Any[x, -x][3], Active, Active(1.0))
    @test_throws MethodError autodiff(Reverse, x -> Any[x][1] + "text", Active, Active(1.0))
    e = thrown(() -> autodiff(Reverse, x -> (r = Ref{Any}(x); invoke(*, Tuple{Number,Number}, r[], 2.0)), Active, Active(1.0)))
    @test e isa Enzyme.EnzymeError
end

@noinline fails() = error("no")
catches(x) = try
    sqrt(x)
catch
    0.0
end
# What an exception takes out of a block.
catches_value(x) = (y = 0.0; try; y = x; fails(); catch; end; 3y)
catches_in_array(v) = (try; v[1] = v[2]; fails(); catch; end; 3v[1])
finishes(x) = (io = IOBuffer(); try; print(io, x > 0); finally; close(io); end; x^2)
@noinline order(n) = try
    n > 3 && fails()
    n
catch
    10
end
@noinline number(text) = try
    parse(Int, text)
catch e
    e isa ArgumentError || rethrow()
    7
end

@testset "exceptions caught inside" begin
    # Nothing active is caught.
    for (n, expected) in ((2, 2.0), (5, 10.0))
        @test autodiff(Reverse, (x, n) -> x * order(n), Active, Active(2.0), Const(n)) == ((expected, nothing),)
        @test autodiff(Forward, (x, n) -> x * order(n), Duplicated(2.0, 1.0), Const(n)) == (expected,)
    end
    @test autodiff(Reverse, (x, s) -> x * number(s), Active, Active(2.0), Const("12")) == ((12.0, nothing),)
    @test autodiff(Reverse, (x, s) -> x * number(s), Active, Active(2.0), Const("?")) == ((7.0, nothing),)
    # What is active (test/catching.jl has more of it).
    for (f, expected) in ((catches, 0.25), (catches_value, 3.0), (finishes, 8.0))
        @test autodiff(Reverse, f, Active, Active(4.0)) == ((expected,),)
        @test autodiff(Forward, f, Duplicated(4.0, 1.0)) == (expected,)
    end
    @test gradient(Reverse, catches_in_array, [1.0, 2.0]) == ([0.0, 3.0],)
    @test gradient(Forward, catches_in_array, [1.0, 2.0]) == ([0.0, 3.0],)
    @test autodiff(Reverse, x -> x^2, Active, Active(3.0)) == ((6.0,),)
end

struct Particle
    mass::Float64
    charge::Int
end
mutable struct State
    time::Float64
    values::Vector{Float64}
end
triple_bits(x) = reinterpret(Float64, reinterpret(Int64, x) * 3)
triple_bits(x::Float32) = reinterpret(Float32, reinterpret(Int32, x) * Int32(3))
function triple_all!(y, x)
    from, to = reinterpret(Int64, x), reinterpret(Int64, y)
    for n in eachindex(x)
        to[n] = from[n] * 3
    end
end

# A function of C may keep what it is given, and give it back at another call.
@testset "numbers of any precision" begin
    for f in [x -> Float64(BigFloat(x)^2), x -> Float64(sin(big(x))), x -> Float64(parse(BigFloat, "1.5") * x), x -> (s = BigFloat(0); for _ in 1:3; s += x; end; Float64(s))]
        for mode in (Reverse, Forward)
            e = try
                mode === Reverse ? autodiff(Reverse, f, Active, Active(1.3)) : autodiff(Forward, f, Duplicated(1.3, 1.0))
            catch e
                e
            end
            @test e isa Enzyme.EnzymeError && occursin("mpfr", sprint(showerror, e))
        end
    end
    # What has no derivative may be computed so.
    @test autodiff(Reverse, x -> x * Float64(big(2.0)^3), Active, Active(1.3)) == ((8.0,),)
end

@testset "bits of floats" begin
    refused(f, arguments...; mode = Reverse) = (e = thrown(() -> autodiff(mode, f, arguments...)); e isa Enzyme.EnzymeError && e.items[1].code == "E0205")
    @test refused(triple_bits, Active, Active(1.0))
    @test occursin("errors.jl:", message(thrown(() -> autodiff(Reverse, triple_bits, Active, Active(1.0)))))
    @test refused(triple_bits, Active, Active(1.0f0))
    @test refused(triple_bits, Duplicated(1.0, 1.0); mode = Forward)
    @test refused(triple_bits, Duplicated(1.0f0, 1.0f0); mode = Forward)
    @test autodiff(Reverse, copysign, Active, Active(5.0), Active(-2.0)) == ((-1.0, 0.0),)
    @test autodiff(Forward, copysign, Duplicated(5.0f0, 1.0f0), Duplicated(-2.0f0, 1.0f0)) == (-1.0f0,)
    # An approximate logarithm: what is linear in the bits has a derivative.
    @test autodiff(Reverse, x -> reinterpret(Int64, x) * 2.0^-52, Active, Active(3.0)) == ((0.5,),)
    @test autodiff(Reverse, (x, y) -> copysign(x, y) * y, Active, Active(5.0), Active(-2.0)) == ((2.0, -5.0),)
    @test refused(p -> triple_bits(p.mass), Active, Active(Particle(1.0, 2)))
    @test refused(t -> triple_bits(t[2]), Active, Active((1.0, 2.0)))
    @test refused(t -> triple_bits(t[1][2]), Duplicated(((1.0, 2.0), 3), ((1.0, 2.0), 3)); mode = Forward)
    @test refused(v -> triple_bits(v[2]), Active, Duplicated([1.0, 2.0], zeros(2)))
    @test refused(v -> triple_bits(v[2]), Duplicated([1.0, 2.0], zeros(2)); mode = Forward)
    @test refused(v -> triple_bits(v[2].mass), Active, Duplicated([Particle(1.0, 2), Particle(3.0, 4)], [Particle(0.0, 2), Particle(0.0, 4)]))
    @test refused(v -> triple_bits(v[2].re), Active, Duplicated([1.0 + 2.0im, 3.0im], zeros(ComplexF64, 2)))
    @test refused(triple_all!, Const, Duplicated(zeros(2), zeros(2)), Duplicated([1.0, 2.0], zeros(2)))
    @test refused(triple_all!, Const, Duplicated(zeros(2), zeros(2)), Duplicated([1.0, 2.0], zeros(2)); mode = Forward)
    @test refused(s -> triple_bits(s.time), Active, Duplicated(State(1.0, [1.0]), State(0.0, [0.0])))
    @test refused(s -> triple_bits(s.values[1]), Active, Duplicated(State(1.0, [1.0]), State(0.0, [0.0])))
    @test refused(t -> triple_bits(t[2][1]), Active, MixedDuplicated((1.0, [1.0]), Ref((0.0, [0.0]))))
    @test refused(v -> triple_bits(v[2][1]), Active, Duplicated([[1.0], [2.0]], [[0.0], [0.0]]))
    @test refused((v, n) -> triple_bits(v[n].values[n]), Duplicated([State(1.0, [1.0])], [State(0.0, [0.0])]), Const(1); mode = Forward)
    @test refused(v -> triple_bits(v[1][2][1]), Active, Duplicated([(1, [1.0])], [(1, [0.0])]))
    # What is told of does not have to be there.
    nowhere, empty = Vector{Vector{Float64}}(undef, 2), Vector{Float64}[]
    @test autodiff(Forward, (v, x) -> isassigned(v, 1) ? 2x : 3x, Duplicated(nowhere, Vector{Vector{Float64}}(undef, 2)), Duplicated(1.0, 1.0)) == (3.0,)
    @test autodiff(Reverse, (v, x) -> length(v) * x, Active, Duplicated(empty, Vector{Float64}[]), Active(1.0)) == ((nothing, 0.0),)
    @test_throws UndefRefError autodiff(Reverse, v -> v[1][1], Active, Duplicated(nowhere, Vector{Vector{Float64}}(undef, 2)))
    # Bits that matter to no derivative.
    @test autodiff(Reverse, (x, c) -> x * triple_bits(c), Active, Active(1.0), Const(1.0)) == ((triple_bits(1.0), nothing),)
    @test autodiff(Reverse, (x, v) -> x * triple_bits(v[1]), Active, Active(1.0), Const([1.0])) == ((triple_bits(1.0), nothing),)
    @test autodiff(Reverse, x -> signbit(x) ? -x : x^2, Active, Active(-1.0)) == ((-1.0,),)
    @test autodiff(Reverse, (x, v) -> x * reinterpret(Int64, v)[1], Active, Active(1.0), Const([0.0])) == ((0.0, nothing),)
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
