# Lists whose elements may be missing, nothing, or numbers of another type: made inside, handed in, changed in place, returned.

const MaybeMissing = Union{Float64,Missing}
const Gaps = Vector{MaybeMissing}
const Found = Union{Float64,Nothing}
const Mixed = Union{Float64,Int}

w3() = [1.3, -0.4, 2.2]
known() = Gaps([1.0, missing, 3.0, 2.0])
of_squares(u) = (s = 0.0; for x in u; ismissing(x) || (s += x^2); end; s)
is_near(a, b) = isapprox(a, b; rtol = 1e-5, atol = 1e-8)

"What is not there has no derivative."
function differences(f, v)
    map(eachindex(v)) do k
        ismissing(v[k]) && return missing
        a, b = copy(v), copy(v)
        a[k] += 1e-6
        b[k] -= 1e-6
        (f(a) - f(b)) / 2e-6
    end
end
agree(a, b) = length(a) == length(b) && all(((x, y),) -> ismissing(y) || is_near(x, y), zip(a, b))

"Reverse mode and forward mode against differences, each twice."
function both(f, v)
    expected = differences(f, v)
    all(1:2) do _
        back = gradient(Reverse, f, v)[1]
        agree(back, expected) && all(ismissing.(back) .== ismissing.(v)) && agree(gradient(Forward, f, v)[1], expected)
    end
end

collect_now() = ccall(:jl_gc_collect, Cvoid, (Cint,), 0)

struct Survey
    answers::Gaps
    last::Int
end
mutable struct Sensor
    readings::Gaps
end
struct Disc2
    r::Float64
end
struct Stripes
    n::Int
    width::Float64
end
area_of(x::Disc2) = x.r^2
area_of(x::Stripes) = x.n * x.width
@noinline each!(to, from) = (for k in eachindex(from); to[k] = from[k]; end; to)

const observed = [1.0, missing, 3.0]

@testset "made inside" begin
    for f in [
        v -> (u = [v[1], missing, v[3] * v[2]]; sum(skipmissing(u))^2),
        v -> (u = [v[1], missing, v[3] * v[2]]; sum(x -> x^3, skipmissing(u)) + prod(skipmissing(u))),
        v -> (u = [v[1], missing, v[3] * v[2], v[2]]; mean(skipmissing(u)) + var(collect(skipmissing(u))) + std(skipmissing(u))),
        v -> (u = [v[1], missing, v[3] * v[2], v[2]]; maximum(skipmissing(u))^2 + minimum(skipmissing(u))),
        v -> (u = Gaps(undef, 3); u[1] = v[1]; u[2] = missing; u[3] = v[3] * v[2]; of_squares(u)),
        v -> (u = fill!(Gaps(missing, 4), v[1]^2); u[2] = missing; u[3] = v[2]; sum(skipmissing(u))^2),
        v -> (u = convert(Gaps, v); u[2] = missing; sum(x -> x^2, skipmissing(u))),
        v -> (u = Array{MaybeMissing}(v); u[1] = missing; sum(skipmissing(u .^ 2))),
        v -> (u = Gaps(missing, 3); for k in 1:4, i in 1:3; u[i] = ismissing(u[i]) ? (k > i ? v[i] : missing) : u[i] * v[i]; end; sum(skipmissing(u))),
        v -> (u = [x > 0 ? x^2 : missing for x in v]; sum(skipmissing(u))^2),
        v -> (u = [x > 0 ? x^2 : nothing for x in v]; s = 0.0; for x in u; x === nothing || (s += x^2); end; s),
        v -> (u = ifelse.(v .> 0, v, missing); sum(skipmissing(u))^2),
        v -> (u = [v[1], missing, v[3] * v[2]]; w = map(x -> ismissing(x) ? missing : x^2, u); sum(skipmissing(w))^2),
        v -> (u = [v[1], missing, v[3] * v[2]]; sum(skipmissing(u .* 2.0 .+ v))),
        v -> (u = [v[1], missing, v[3] * v[2]]; sum(coalesce.(u, 0.5) .* v)),
        v -> (u = [v[1], missing, v[3] * v[2]]; sum(x -> x^2, replace(u, missing => 0)) + sum(replace!(u, missing => 2.0))),
        v -> (u = [v[1], missing, v[3] * v[2]]; sum(abs2, filter(!ismissing, u)) + sum(abs2, collect(skipmissing(u)))),
        v -> (u = [v[1], missing, v[3] * v[2]]; sum(Float64[x for x in u if !ismissing(x)] .^ 2)),
        v -> (u = [v[1], missing, v[3]]; s = 0.0; for (a, b) in zip(u, v); ismissing(a) || (s += a * b); end; s),
        v -> (u = [missing, v[1], v[3]]; u[findfirst(!ismissing, u)]^2),
        v -> (u = [v[1], v[2], missing]; accumulate(+, u)[2]^2),
        v -> sum(skipmissing((observed .- v) .^ 2)),
        v -> (u = Vector{Found}(nothing, 3); u[2] = v[2]^3; s = 0.0; for x in u; x === nothing || (s += x^2); end; s),
        v -> (u = Union{Float64,Nothing,Missing}[v[1], missing, v[2]^2, nothing]; s = 0.0; for x in u; x isa Float64 && (s += x^2); end; s),
        v -> (u = Union{ComplexF64,Missing}[complex(v[1], v[2]), missing, v[3] * im]; sum(abs2, skipmissing(u))),
        v -> (u = Union{ComplexF64,Float64}[complex(v[1], v[2]), v[1] * v[2], v[3] * im]; s = 0.0; for x in u; s += abs2(x); end; s),
        v -> (u = Union{Tuple{Float64,Int},Missing}[(v[1], 2), missing, (v[2] * v[3], 3)]; s = 0.0; for x in u; ismissing(x) || (s += x[1]^x[2]); end; s)]
        @test both(f, w3())
    end
    for f in [
        v -> (u = Union{Disc2,Stripes}[Disc2(v[1]), Stripes(3, v[2]), Disc2(v[3])]; sum(area_of, u)),
        v -> sum(area_of, map(x -> x > 0 ? Disc2(x) : Stripes(2, x), v)),
        v -> (u = Union{Disc2,Missing}[Disc2(v[1]), missing, Disc2(v[3])]; a = Any[u]; a[1][2] = a[1][1]; sum(area_of, skipmissing(a[1]))),
        v -> (u = Union{Disc2,Stripes}[]; for x in v; push!(u, x > 0 ? Disc2(x) : Stripes(2, x)); end; w = copy(u); w[1] = u[2]; s = 0.0; for x in w; s += area_of(x); end; s)]
        @test both(f, w3())
    end
    f(v) = (u = Union{Float32,Missing}[Float32(v[1]), missing, Float32(v[2])]; Float64(sum(skipmissing(u))^2))
    @test gradient(Reverse, f, [1.25, 2.0])[1] == [6.5, 6.5] && gradient(Forward, f, [1.25, 2.0])[1] == [6.5, 6.5]
end

@testset "numbers of two types" begin
    for f in [
        v -> sum([x > 0 ? x : 0 for x in v] .* v),
        v -> (u = [x > 0 ? x : 0 for x in v]; sum(u .* u)),
        v -> sum(map(x -> x > 0 ? x^2 : 0, v)),
        v -> (u = Vector{Mixed}(undef, 3); u[1] = v[1]^2; u[2] = 3; u[3] = v[3] * v[2]; s = 0.0; for x in u; s += x * x; end; s),
        v -> (u = Mixed[]; for (i, x) in enumerate(v); push!(u, i == 2 ? i : x^i); end; s = 0.0; for x in u; s += x^3; end; s),
        v -> (u = Mixed[v[1]^2, 2, v[2] * v[3]]; sum(u .* v)),
        v -> (a = Any[Mixed[v[1], 2, v[3]]]; a[1][1]^2),
        v -> (u = Mixed[v[1], 1, v[3]]; a = Any[u, similar(u)]; each!(a[2], a[1]); w = a[2]::Vector{Mixed}; s = 0.0; for x in w; s += x * x; end; s)]
        @test both(f, w3())
    end
    # Both sizes of floats in one place, which one that is only the elements say.
    @test_throws Enzyme.EnzymeError gradient(Reverse, v -> (u = Union{Float64,Float32}[v[1], 2.0f0]; Float64(u[1])^2), w3())
    numbers = Union{Float64,Float32}[1.0, 2.0f0]
    for mode in (Reverse, Forward)
        e = try
            gradient(mode, u -> Float64(u[1])^2, numbers)
        catch e
            e
        end
        @test e isa Enzyme.EnzymeError && occursin("floats of one size or of another", sprint(showerror, e))
    end
end

@testset "copied, grown, taken apart" begin
    for f in [
        v -> (u = [v[1], missing, v[3] * v[2]]; w = copy(u); w[2] = v[2]; u[1] = 0.0; sum(skipmissing(w)) * sum(skipmissing(u))),
        v -> (u = [v[1], missing, v[3] * v[2]]; w = similar(u); for i in 1:3; w[i] = u[i]; end; w[2] = v[2]; sum(w)^2),
        v -> (u = [v[1], missing, v[3] * v[2]]; w = view(u, 2:3); w[1] = v[1] * v[2]; sum(u)^2),
        v -> (u = Gaps(); for x in v; push!(u, x > 0 ? x^2 : missing); end; sum(skipmissing(u))),
        v -> (u = Gaps(); append!(u, v); append!(u, [missing, 2.0]); append!(u, v .^ 2); sum(x -> x^2, skipmissing(u))),
        v -> (u = [v[1], missing, v[3] * v[2]]; resize!(u, 5); u[4] = v[2]^2; u[5] = missing; sum(x -> x^2, skipmissing(u))),
        v -> (u = [v[1], missing, v[3] * v[2]]; pushfirst!(u, v[1]^2); insert!(u, 3, v[3]^3); deleteat!(u, 1); pop!(u); u[1] * u[2]),
        v -> (u = [v[1], missing, v[3] * v[2]]; a = popfirst!(u); b = pop!(u); a * b * length(u)),
        v -> (u = vcat([v[1], missing], v, [missing]); sum(x -> x^2, skipmissing(u))),
        v -> (u = [v[1], missing, v[3] * v[2], v[2]]; w = sort(u); w[1]^2 + w[3] + reverse(w)[2]^3),
        v -> (u = [v[1], missing, v[3] * v[2], v[2]]; sum(skipmissing(u[[1, 2, 4]]))^2 + sum(u[.!ismissing.(u)]) + sum(skipmissing(u[1:3]))),
        v -> (u = [v[1], missing, v[3] * v[2], v[2]]; A = reshape(u, 2, 2); A[2, 1] = v[1]^2; sum(A[:, 1]) * sum(u)),
        v -> (A = Matrix{MaybeMissing}(missing, 2, 2); A[1, 1] = v[1]; A[2, 2] = v[2] * v[3]; B = A .* 2; C = permutedims(A); sum(skipmissing(B))^2 + sum(skipmissing(C))),
        v -> (A = Array{MaybeMissing}(missing, 2, 1, 2, 2); A[2, 1, 2, 1] = v[1]; A[1, 1, 1, 1] = v[2] * v[3]; B = copy(A); A[1, 1, 1, 1] = missing; sum(skipmissing(A)) * sum(skipmissing(B))),
        v -> (u = [v[1], missing]; push!(u, v[2]); A = reshape(u, 1, 3); A[1, 2] = v[3]; A[1, 2] * A[1, 1] * u[3]),
        v -> (l = [MaybeMissing[x, missing] for x in v]; l[2][2] = v[1]; sum(sum(skipmissing(u))^2 for u in l)),
        v -> (s = Survey([v[1], missing, v[2]], 2); s.answers[s.last] = v[3]; sum(s.answers)^2),
        v -> (d = Dict("a" => [v[1], missing]); d["a"][2] = v[2]; sum(d["a"])^2),
        v -> (a = Any[[v[1], missing, v[2]], 2.0]; sum(skipmissing(a[1])) * a[2]),
        v -> (a = Any[Found[v[1], nothing, v[3]]]; a[1][1]^2),
        v -> (u = Found[v[1], nothing, v[3]]; a = Any[u]; a[1][2] = v[2]; s = 0.0; for x in u; x === nothing || (s += x^2); end; s),
        v -> (u = Found[v[1], nothing, v[3]]; a = Any[u]; w = copy(a[1])::Vector{Found}; s = 0.0; for x in w; x === nothing || (s += x * x); end; s)]
        @test both(f, w3())
    end
end

@testset "handed in" begin
    for f in [
        of_squares,
        u -> sum(skipmissing(u))^2,
        u -> sum(x -> x^2, skipmissing(u)),
        u -> mean(skipmissing(u)) + var(skipmissing(u)) + maximum(skipmissing(u)),
        u -> sum(coalesce.(u, 0.0) .^ 2),
        u -> sum(x -> ismissing(x) ? 0.0 : x^2, u),
        u -> sum([ismissing(x) ? 0.0 : x^3 for x in u]),
        u -> sum(replace(u, missing => 0) .^ 2),
        u -> sum(skipmissing(u .* u)) + sum(skipmissing(map(x -> 2x, u))),
        u -> sum(abs2, filter(!ismissing, u)) * count(!ismissing, u),
        u -> (w = copy(u); w[2] = u[1]^2; sum(w)^2),
        u -> sum(skipmissing(view(u, 1:3))) * sum(skipmissing(u[[1, 4]])),
        u -> sum(skipmissing([u; 2 .* u; u[1]])),
        u -> (w = sort(u); w[1] * w[2]^2),
        u -> sum(skipmissing(reshape(u, 2, 2)[:, 2]))]
        @test both(f, known())
    end
    # Lists that grew, or shrank at either end.
    @test both(of_squares, push!(known(), 4.0, missing))
    shrunk = push!(known(), 4.0, 5.0)
    popfirst!(shrunk)
    pop!(shrunk)
    @test both(of_squares, shrunk) && isequal(make_zero(shrunk), Gaps([missing, 0.0, 0.0, 0.0]))
    # A number in the shadow where there is none counts for nothing, and what is no number for zero.
    d = Gaps([1.0, 1.0, missing, 0.0])
    @test autodiff(Forward, u -> sum(skipmissing(u)), Duplicated(known(), d)) == (1.0,) && isequal(d, Gaps([1.0, missing, 0.0, 0.0]))
    d = Gaps(missing, 4)
    autodiff(Reverse, of_squares, Active, Duplicated(known(), d))
    @test isequal(d, Gaps([2.0, missing, 6.0, 4.0]))
    # Memory for another number of elements, and another number of elements.
    @test_throws ArgumentError autodiff(Reverse, of_squares, Active, Duplicated(push!(known(), 5.0), Gaps(missing, 5)))
    @test_throws ArgumentError autodiff(Reverse, of_squares, Active, Duplicated(known(), Gaps(missing, 3)))
    # Within structures and lists.
    s = Survey(Gaps([1.0, missing]), 2)
    of_survey(s, l) = of_squares(s.answers) * s.last + of_squares(l[1]) * of_squares(l[2])
    lists = [Gaps([2.0, missing]), Gaps([3.0])]
    ds, dl = gradient(Reverse, of_survey, s, lists)
    @test isequal(ds.answers, Gaps([4.0, missing])) && isequal(dl, [Gaps([36.0, missing]), Gaps([24.0])])
    @test autodiff(Forward, of_survey, Duplicated(s, Survey(Gaps([1.0, missing]), 2)), Duplicated(lists, [Gaps([1.0, missing]), Gaps([0.0])])) == (40.0,)
    @test isequal(autodiff(Forward, of_squares, BatchDuplicated(known(), (Gaps([1.0, missing, 0.0, 0.0]), Gaps([0.0, missing, 1.0, 1.0]))))[1], (var"1" = 2.0, var"2" = 10.0))
    @test gradient(Reverse, (u, x) -> sum(skipmissing(u)) * x, Const(known()), 2.0) == (nothing, 6.0)
end

@testset "changed in place" begin
    fills!(a, x) = (a[2] = x^2; a[3] = missing; nothing)
    a, d = known(), Gaps([1.0, missing, 1.0, 1.0])
    autodiff(Forward, fills!, Const, Duplicated(a, d), Duplicated(3.0, 1.0))
    @test isequal(a, Gaps([1.0, 9.0, missing, 2.0])) && isequal(d, Gaps([1.0, 6.0, missing, 1.0]))
    # The shadow comes with what is wanted of the result, and goes with derivatives for what was there before.
    a, d = known(), Gaps([1.0, 10.0, missing, 2.0])
    @test autodiff(Reverse, fills!, Const, Duplicated(a, d), Active(3.0)) == ((nothing, 60.0),)
    @test isequal(d, Gaps([1.0, missing, 0.0, 2.0]))
    moves!(a, b) = (copyto!(a, b); a[1] = a[3] * b[4]; nothing)
    a, b, da, db = known(), Gaps([5.0, 6.0, 7.0, missing]), Gaps([1.0, 2.0, 3.0, 4.0]), Gaps([0.0, 0.0, 0.0, missing])
    b[4] = 8.0
    db[4] = 0.0
    autodiff(Reverse, moves!, Const, Duplicated(a, da), Duplicated(b, db))
    @test db == [0.0, 2.0, 3.0 + 8.0, 4.0 + 7.0] && isequal(da, Gaps([0.0, missing, 0.0, 0.0]))
    c, dc = Mixed[1.0, 2, 3.0], Mixed[1.0, 7, 1.0]
    autodiff(Forward, (c, x) -> (c[1] = 4; c[2] = x^2; nothing), Const, Duplicated(c, dc), Duplicated(3.0, 1.0))
    @test c == [4, 9.0, 3.0] && dc == [4, 6.0, 1.0] && dc[1] isa Int && dc[2] isa Float64
    # After an exception the types are there still.
    for mode in (Forward, Reverse)
        d = make_zero(known())
        @test_throws DomainError autodiff(mode, (a, v) -> (a[2] = v[1]; a[1] = sqrt(-v[2]); nothing), Const, Duplicated(known(), d), Duplicated([1.0, 2.0], zeros(2)))
        @test isequal(ismissing.(d), [false, mode === Reverse, false, false])
    end
    # An array in the place of another.
    replaced(h, x) = (s = of_squares(h.readings); h.readings = [x[1], missing]; push!(h.readings, x[2]^2); s + of_squares(h.readings))
    h, dh, dx = Sensor(known()), Sensor(make_zero(known())), zeros(2)
    old = dh.readings
    autodiff(Reverse, replaced, Active, Duplicated(h, dh), Duplicated([2.0, 3.0], dx))
    @test dx == [4.0, 108.0] && isequal(h.readings, Gaps([2.0, missing, 9.0])) && isequal(dh.readings, Gaps([0.0, missing, 0.0]))
    h, dh = Sensor(known()), Sensor(make_zero(known()))
    @test autodiff(Forward, replaced, Duplicated(h, dh), Duplicated([2.0, 3.0], [0.0, 1.0])) == (108.0,)
    @test isequal(dh.readings, Gaps([0.0, missing, 6.0])) && isequal(push!(dh.readings, 1.0), Gaps([0.0, missing, 6.0, 1.0]))
    @test_throws ErrorException autodiff(Forward, u -> (push!(u, 1.0); nothing), Const, Duplicated(known(), make_zero(known())))
end

@testset "returned" begin
    tangent(f, x = 3.0) = autodiff(Forward, f, Duplicated(x, 1.0))[1]
    @test isequal(tangent(x -> [x, missing, x^2]), Gaps([1.0, missing, 6.0]))
    @test isequal(tangent(x -> (u = Gaps(undef, 3); for i in 1:2:3; u[i] = x^i; end; u[2] = missing; u)), Gaps([1.0, missing, 27.0]))
    @test isequal(tangent(x -> (u = Gaps(); for k in 1:5; push!(u, isodd(k) ? x^k : missing); end; u)), Gaps([1.0, missing, 27.0, missing, 405.0]))
    @test isequal(tangent(x -> Found[x^2, nothing]), Found[6.0, nothing])
    @test tangent(x -> Mixed[x^2, 7]) == [6.0, 7]
    @test isequal(tangent(x -> ([x, missing], 2, nothing))[1], Gaps([1.0, missing]))
    @test isequal(tangent(x -> [[x^2, missing], [missing, x^3]]), [Gaps([6.0, missing]), Gaps([missing, 27.0])])
    @test isequal(tangent(x -> Survey([x, missing], 2)).answers, Gaps([1.0, missing]))
    @test isequal(tangent(x -> Any[[x, missing], 2])[1], Gaps([1.0, missing]))
    @test isequal(tangent(x -> (A = Matrix{MaybeMissing}(missing, 2, 2); A[2, 1] = x^2; A)), [missing missing; 6.0 missing])
    @test isequal(autodiff(Forward, copy, Duplicated(known(), Gaps([1.0, missing, 2.0, 0.0])))[1], Gaps([1.0, missing, 2.0, 0.0]))
    r = autodiff(ForwardWithPrimal, x -> [x, missing, x^2], BatchDuplicated(3.0, (1.0, 2.0)))
    @test isequal(r[1][1], Gaps([1.0, missing, 6.0])) && isequal(r[1][2], Gaps([2.0, missing, 12.0])) && isequal(r[2], Gaps([3.0, missing, 9.0]))
    @test isequal(jacobian(Forward, v -> [v[1]^2, missing, v[2]], [1.0, 2.0])[1], [2.0 0.0; missing missing; 0.0 1.0])
    # A vector that grew has a tangent as long as it is, of floats too.
    @test tangent(x -> (w = [x]; for k in 1:3; push!(w, x^k); end; w)) == [1.0, 1.0, 6.0, 27.0]
    @test tangent(x -> (w = [x]; push!(w, x^2); (w, [w, 2w]))) == ([1.0, 6.0], [[1.0, 6.0], [2.0, 12.0]])
end

@testset "in two sweeps" begin
    f(v) = [v[1]^2, missing, v[2] * v[1]]
    first, back = autodiff_thunk(ReverseSplitWithPrimal, Const{typeof(f)}, Duplicated, Duplicated{Vector{Float64}})
    v, d = [2.0, 3.0], zeros(2)
    tape, value, shadow = first(Const(f), Duplicated(v, d))
    @test isequal(value, Gaps([4.0, missing, 6.0])) && isequal(shadow, Gaps([0.0, missing, 0.0]))
    shadow[1], shadow[3] = 1.0, 10.0
    GC.gc()
    back(Const(f), Duplicated(v, d), tape)
    @test d == [34.0, 20.0]
    grown(v) = (w = [v[1]]; push!(w, v[2]^2); w)
    first, back = autodiff_thunk(ReverseSplitWithPrimal, Const{typeof(grown)}, Duplicated, Duplicated{Vector{Float64}})
    v, d = [2.0, 3.0], zeros(2)
    tape, value, shadow = first(Const(grown), Duplicated(v, d))
    @test length(shadow) == 2
    shadow[2] = 1.0
    back(Const(grown), Duplicated(v, d), tape)
    @test d == [0.0, 6.0]
    g(a, x) = (a[2] = x^2; s = a[1]; a[1] = missing; a[3] = a[3] * x; s * x)
    first, back = autodiff_thunk(ReverseSplitWithPrimal, Const{typeof(g)}, Active, Duplicated{Gaps}, Active{Float64})
    a, d = known(), make_zero(known())
    tape, value, _ = first(Const(g), Duplicated(a, d), Active(5.0))
    @test value == 5.0 && isequal(a, Gaps([missing, 25.0, 15.0, 2.0]))
    d[2], d[3] = 1.0, 1.0
    @test back(Const(g), Duplicated(a, d), Active(5.0), 1.0, tape) == ((nothing, 14.0),)
    @test isequal(d, Gaps([5.0, missing, 5.0, 0.0]))
end

# Rules are given shadows with the types of the array.
weighed(u, x) = sum(skipmissing(u)) * x
EnzymeRules.forward(config, f::Const{typeof(weighed)}, ::Type{<:Duplicated}, u::Duplicated{Gaps}, x::Duplicated) =
    Duplicated(weighed(u.val, x.val), 100 * (sum(skipmissing(u.dval)) * x.val + sum(skipmissing(u.val)) * x.dval))
EnzymeRules.augmented_primal(config, f::Const{typeof(weighed)}, ::Type{<:Active}, u::Annotation{Gaps}, x::Active) = EnzymeRules.AugmentedReturn(weighed(u.val, x.val), nothing, nothing)
EnzymeRules.reverse(config, f::Const{typeof(weighed)}, dret::Active, tape, u::Annotation{Gaps}, x::Active) = (nothing, 0.0)

# Of a vector that grew they are given a shadow as long as it is.
gathered(u, x) = sum(u) * x
EnzymeRules.forward(config, f::Const{typeof(gathered)}, ::Type{<:Duplicated}, u::Duplicated{Vector{Float64}}, x::Duplicated) =
    Duplicated(gathered(u.val, x.val), sum(u.dval) * x.val + sum(u.val) * x.dval)
EnzymeRules.augmented_primal(config, f::Const{typeof(gathered)}, ::Type{<:Active}, u::Duplicated{Vector{Float64}}, x::Active) =
    EnzymeRules.AugmentedReturn(gathered(u.val, x.val), nothing, sum(u.val))
EnzymeRules.reverse(config, f::Const{typeof(gathered)}, dret::Active, tape, u::Duplicated{Vector{Float64}}, x::Active) = (u.dval .+= x.val * dret.val; (nothing, tape * dret.val))

@testset "rules and derivatives within derivatives" begin
    @test both(v -> (u = Float64[]; s = 0.0; for y in v; push!(u, y^2); s += gathered(u, v[1]); end; s), w3())
    by_rule(v) = (u = Gaps(); for y in v; push!(u, y > 0 ? y^2 : missing); end; weighed(u, v[1]))
    @test autodiff(Forward, by_rule, Duplicated(w3(), [0.0, 0.0, 1.0]))[1] ≈ 100 * 2 * 2.2 * 1.3
    @test_throws Enzyme.EnzymeError gradient(Reverse, by_rule, w3())
    @test_throws ArgumentError hvp(of_squares, known(), known())
    @test_throws Enzyme.EnzymeError gradient(Reverse, v -> gradient(Reverse, of_squares, Gaps([v[1]]))[1][1], [2.0])
end

@testset "under collections" begin
    during = [
        v -> (u = Gaps(); for a in v; push!(u, a^2, missing); collect_now(); end; collect_now(); s = of_squares(u); collect_now(); s),
        v -> (u = [v[1], missing, v[3]]; collect_now(); w = copy(u); collect_now(); w[2] = v[2]; w = vcat(w, u .* 2); collect_now(); sum(skipmissing(w))^2),
        v -> (l = [MaybeMissing[x, missing] for x in v]; collect_now(); sum(of_squares(u) for u in l)),
        v -> (a = Any[[v[1], missing, v[2]], 2.0]; collect_now(); sum(skipmissing(a[1])) * a[2])]
    for f in during
        @test both(f, w3())
    end
    good, d = true, make_zero(known())
    for n in 1:2000
        make_zero!(d)
        autodiff(Reverse, of_squares, Active, Duplicated(known(), d))
        n % 100 == 0 && GC.gc(n % 500 == 0)
        good &= isequal(d, Gaps([2.0, missing, 6.0, 4.0]))
    end
    @test good
    made = [autodiff(Forward, x -> [x, missing, x^2], Duplicated(3.0, 1.0))[1] for _ in 1:200]
    GC.gc()
    [rand(3) for _ in 1:1000]
    GC.gc(false)
    @test all(t -> isequal(t, Gaps([1.0, missing, 6.0])), made)
    @test GC.enable(true)
end
