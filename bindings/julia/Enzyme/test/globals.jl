# Objects that a program has as constants or global variables: they have no shadow.

mutable struct Setting
    rate::Float64
    weights::Vector{Float64}
end
struct Pair2
    x::Float64
    y::Float64
end
const table = [1.0, 2.0, 3.0]
const scratch = zeros(3)
const setting = Setting(0.5, [1.0, 2.0, 3.0])
const rate = Ref(0.5)
const count_of_calls = Ref(0)
const options = (a = 2.0, b = [1.0, 2.0, 3.0])
const prices = Dict("a" => 2.0, "b" => 3.0)
const matrix = [1.0 2.0 0.5; 3.0 4.0 0.1; 0.2 0.3 0.4]
const pair = Pair2(2.0, 3.0)
changing = [1.0, 2.0, 3.0]

@noinline set_rate(x) = (rate[] = x; nothing)
@noinline get_rate() = rate[]
@noinline with_setting(s, v) = s.rate * sum(s.weights .* v)
@noinline area(p) = p.x^2 * p.y
chosen(v, other) = other ? table : v

v3() = [0.3, 0.7, -0.4]
good(f) = test_reverse(f, Active, (v3(), Duplicated)) && test_forward(f, Duplicated, (v3(), Duplicated))
refused(f, given...) = all(((mode, A),) -> begin
    e = try
        autodiff(mode, f, A, Duplicated(v3(), [1.0, 0.0, 0.0]), map(Const, given)...)
    catch e
        e
    end
    e isa Enzyme.EnzymeError && all(i -> i.code in ("E0203", "E0302", "E0304", "E0305"), e.items)
end, ((Reverse, Active), (Forward, Duplicated)))

@testset "read" begin
    @test good(v -> sum(table .* v .^ 2))
    @test good(v -> rate[] * v[1]^2 + rate[])
    @test good(v -> with_setting(setting, v) * v[1])
    @test good(v -> options.a * v[1]^2 + sum(options.b .* v))
    @test good(v -> prices["a"] * v[1]^2)
    @test good(v -> sum(abs2, matrix * v))
    @test good(v -> (M = copy(matrix); M .*= v[1]; sum(abs2, matrix' * M)))
    @test good(v -> area(Pair2(v[1], v[2])) + area(pair))
    @test good(v -> (changing::Vector{Float64})[2] * v[1]^2)
    @test good(v -> (count_of_calls[] += 1; v[1]^2))
    @test good(v -> (scratch .= table; sum(scratch .* v)))
    @test good(v -> (copied = true ? copy(table) : v; copied[1] = v[2]; sum(abs2, copied)))
end

@testset "written" begin
    @test refused(v -> (scratch .= v .^ 2; sum(scratch) * v[1]))
    @test refused(v -> (setting.rate = v[1]; with_setting(setting, v)))
    @test refused(v -> (setting.weights .= v; with_setting(setting, v)))
    @test refused(v -> (set_rate(v[1]); get_rate()^2 * v[2]))
    @test refused(v -> (g = changing::Vector{Float64}; g[1] = v[1]; sum(g .* v)))
    setting.rate, setting.weights, rate[] = 0.5, [1.0, 2.0, 3.0], 0.5
end

# Memory that is now an argument's, now a constant's: the constant would have been its own shadow, and would have been changed.
@testset "mixed" begin
    before = (copy(table), setting.rate, copy(setting.weights))
    for other in (true, false)
        @test refused((v, other) -> sum(abs2, chosen(v, other)) + v[1], other)
        @test refused((v, other) -> (s = other ? setting : Setting(v[1], v); with_setting(s, v)), other)
        @test refused((v, other) -> sum(abs2, [v, table][other ? 2 : 1]), other)
    end
    @test before == (table, setting.rate, setting.weights)
    message(f) = try f() catch e sprint(showerror, e) end
    text = message(() -> gradient(Reverse, v -> sum(abs2, chosen(v, v[1] > 0)), v3()))
    @test occursin("constant or global object", text) && occursin(r"at .*globals.jl:[0-9]+", text)
    @test occursin("constant or global object", message(() -> gradient(Reverse, v -> (rate[] = v[1]; set_rate(rate[]^2); rate[]), v3())))
end
