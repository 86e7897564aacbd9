# Functions of Base and LinearAlgebra that are given methods when a derivative needs them: an ordinary program gets the same results from them, and the
# same errors, of whatever it gives them, as before any derivative was taken. Run by unchanged.jl in a process of its own.

using Test, LinearAlgebra, SparseArrays, SharedArrays, Enzyme

"An array whose indices begin elsewhere."
struct Elsewhere{T,N} <: AbstractArray{T,N}
    parent::Array{T,N}
    by::Int
end
Base.size(A::Elsewhere) = size(A.parent)
Base.axes(A::Elsewhere) = map(r -> Base.IdentityUnitRange(first(r)+A.by:last(r)+A.by), axes(A.parent))
Base.getindex(A::Elsewhere{T,N}, i::Vararg{Int,N}) where {T,N} = A.parent[(i .- A.by)...]
Base.setindex!(A::Elsewhere{T,N}, v, i::Vararg{Int,N}) where {T,N} = A.parent[(i .- A.by)...] = v

"Numbers of a kind of their own."
struct Odd <: Integer
    n::Int
end
Base.promote_rule(::Type{Odd}, ::Type{Float64}) = Float64
Base.Float64(x::Odd) = Float64(x.n)
Base.convert(::Type{Float64}, x::Odd) = Float64(x.n)

numbered(::Type{T}, sizes...) where {T} = reshape(T[T(7n % 11) - 4 for n in 1:prod((1, sizes...))], sizes...)
cube(T = Float64) = numbered(T, 2, 3, 2)
const of_each_rank = Any[fill(2.5), numbered(Float64, 3), numbered(Float64, 2, 3), cube(), numbered(Float64, 2, 3, 1, 2), numbered(Float64, 2, 1, 3, 1, 2)]
const of_each_kind = Any[(cube(T) for T in (Float32, Int, ComplexF64, BigFloat))..., zeros(0, 3), zeros(2, 0), zeros(0), zeros(2, 0, 3), numbered(Float64, 2, 3)', transpose(numbered(Float64, 3)), [1.5, 2]', Diagonal([1.0, 2]),
    view(numbered(Float64, 4, 3), 1:2:4, :), Symmetric([1.0 2; 3 4]), 1.0:3.0, sparse([1.0 0; 0 2]), Elsewhere(numbered(Float64, 2, 3), -2), Union{Missing,Float64}[1 missing; 2 3], [NaN 1; 2 NaN]]
const all_of_them = Any[of_each_rank; of_each_kind]
const dims_of_all_kinds = Any[1, 2, 3, 4, 5, 6, 0, -1, true, Int32(2), 0x01, big(1), 1.0, :, nothing, (), (1,), (2,), (3,), (4,), (0,), (7,), (1, 2), (2, 1), (1, 3), (1, 1), (1, 2, 3), (3, 1, 2), (1, 9), (1.0,), Int[], [1], [2], [3],
    [1, 2], [2, 1], [2, 2], [1, 2, 3], [9], [0], 1:0, 1:1, 1:2, 1:3, 2:-1:1, (Int32(1), 2), CartesianIndex(1), Val(1), "a"]
const functions = Any[sum, x -> x, x -> x ./ 2, cumsum, maximum, x -> x * 1.0f0, x -> [sum(x), 1], x -> reshape([sum(x)], 1, 1), x -> fill(sum(x)), x -> "text", x -> (sum(x), 1), x -> vec(x)', x -> x[1:1], x -> x[x.>0], x -> sum(x) > 0 ? 1 : 2.5, x -> x .> 0, size, sort, x -> nothing]

"A call: a function, what it is given, and keywords."
struct Question
    f::Any
    given::Vector{Any}
    keywords::Vector{Any}
end
const asked = Question[]
ask(@nospecialize(f), @nospecialize(given...); keywords...) = push!(asked, Question(f, Any[given...], Any[k => v for (k, v) in keywords]))

# One of so many, where each of some is to meet each of others.
const turn = Ref(0)
some(n) = (turn[] += 1) % n == 0

typed(A, dims) = typeof(eachslice(A; dims = dims))
given_parts(A) = (kept = Any[]; mapslices(x -> (push!(kept, x); sum(x)), A; dims = 1); kept)
copied(A) = (B = deepcopy(A); (B, B === A, B == A))
copied_twice(A) = (B = deepcopy(Any[A, A]); (B, B[1] === B[2], B[1] === A))
factor(A, pivot, name) = (x = getproperty(qr(A, pivot), name); x isa AbstractArray ? Array(x) : x)
part_of_lu(A, name) = getproperty(lu(A; check = false), name)
multiplied(C, X, Y, alpha, beta) = (D = Y isa AbstractVector ? C[:, 1] : copy(C); mul!(D, X, Y, alpha, beta); D)
larger(x) = x > 1
double(x) = 2x
const joins = Any[(x, y) -> [x, y], (x, y) -> [x; y], (x, y) -> [x y], (x, y) -> [x y; y x], (x, y) -> [x; y x], hcat, vcat, (x, y) -> Float64[x y], (x, y) -> Float64[x; y], (x, y) -> Float32[x y; y x], (x, y) -> Float64[x, y], (x, y) -> cat(x, y; dims = 3),
    (x, y) -> cat(x, y; dims = (1, 2)), (x, y) -> cat(x, y, x; dims = 4), (x, y) -> hvcat((1, 2), x, y, y), (x, y) -> Base.typed_hcat(Float64, x, y, x), (x, y) -> cat(x, y; dims = Val(2))]

function ask_all(pieces, v, w, M, N3)
    for A in all_of_them, dims in dims_of_all_kinds
        plain = A isa Array{Float64} && dims isa Union{Int,Tuple,Vector}
        (plain || some(5)) && ask(eachslice, A; dims = dims)
        (plain && some(2) || some(9)) && ask(typed, A, dims)
        (plain && some(4) || some(17)) && ask(maximum, A; dims = dims)
        some(17) && ask(minimum, double, A; dims = dims)
        some(17) && ask(maximum, larger, A; dims = dims)
        some(17) && ask(maximum, abs, A; dims = dims)
        (plain && some(3) || some(23)) && ask(mapslices, sum, A; dims = dims)
        (plain && some(4) || some(17)) && ask(cat, A, A; dims = dims)
        some(17) && ask(cat, A; dims = dims)
        some(17) && ask(cat, A, 1.5, A; dims = dims)
    end
    for f in functions, A in of_each_rank, dims in Any[1, 2, (1,), (1, 2), (2, 1), (1, 1), [1], [2, 1], [3], Int[], (), 3, (1, 2, 3), 1:2, 5]
        some(11) && ask(mapslices, f, A; dims = dims)
    end
    ask(mapslices, sum, [1.0 2])
    ask(eachslice, [1.0 2])
    ask(given_parts, numbered(Float64, 2, 3))
    for x in pieces, y in pieces, join in joins
        (x isa Union{Float64,Array{Float64}} && y isa Union{Float64,Array{Float64},Int} && some(5) || some(41)) && ask(join, x, y)
    end
    for rows in Any[(2, 2), (1, 3), (3, 1), (4,), (2, 1), (0, 4), (), (1, 1, 2), (-1, 5), 2, 3, (2.0, 2)], four in Any[(1.0, 2.0, 3.0, 4.0), (1, 2, 3, 4), (1.0, 2, 3.0f0, 4), (v, w, v, w), (v, w, M, M), (1.0, v', v, M), (v', w', v', w'), (M, v, v', 1.0)]
        ask(hvcat, rows, four...)
        some(2) && ask(Base.typed_hvcat, Float64, rows, four...)
        ask(Base.typed_hvcat, Float64, rows)
    end
    for n in (0, 1, 2, 64, 65, 200)
        ask(Base.vect, (isodd(k) ? k : 1.0k for k in 1:n)...)
        ask(Base.vect, (1.0k for k in 1:n)...)
        ask(hcat, (v for k in 1:n)...)
        ask(cat, (v for k in 1:n)...; dims = 2)
        ask(vcat, (isodd(k) ? v : 1.5 for k in 1:n)...)
        ask(hvcat, 1, (1.0 for k in 1:n)...)
        ask(hvcat, (n,), (1.0 for k in 1:n)...)
    end
    for A in Any[all_of_them; 2.5; 1:0], inner in Any[nothing, 1, 2, 0, -1, (1,), (2, 1), (1, 2, 1), [2, 1], (2, 3, 1, 2), Int[], (1.5,), true], outer in Any[nothing, 2, 0, (1, 2), (0, 1), (2, 1, 3), (-1, 1), [1, 2]]
        (A isa Array{Float64} && some(5) || some(29)) && ask(repeat, A; inner = inner, outer = outer)
    end
    for A in all_of_them, counts in Any[(), (1,), (2,), (2, 2), (0,), (1, 2, 3), (-1,), (1.0,), (2, -1), (big(2),)]
        some(3) && ask(repeat, A, counts...)
    end
    for pairs in Any[(0 => v,), (1 => v, -1 => w), (1 => v, 1 => w), (0 => [1.0], 3 => [2.0]), (UInt(1) => v,), (big(1) => v, 0 => [1, 2]), (0 => v, 1 => Float32[1]), (0 => Float64[],), (true => v,), (0 => 1:2,), (1.0 => v,), (0 => v, "a" => w), (0 => M,), (), (2, 3, 0 => v), (1, 1, 0 => v),
        ntuple(k -> k => v, 70)]
        ask(diagm, pairs...)
    end
    for generator in Any[(k => 2.0k for k in 1:3), ((k, "a") for k in 1:2), (k for k in 1:3), ((k, 1, 2) for k in 1:2), (k => (isodd(k) ? 1 : 2.5) for k in 1:3), ((isodd(k) ? k : "a") => 1 for k in 1:3), (k => 1 for k in 1:0), ([k, 2] for k in 1:2), (error("mine") for k in 1:2),
        ("ab" for k in 1:2), (k => k for k in 1:4 if k > 2)]
        ask(Dict, generator)
        ask(Dict{Any,Any}, generator)
    end
    for (f, op) in Any[(*, +), (max, min), (+, *), ((x, y) -> x > y, |), ((x, y) -> "a", *)], two in Any[(v, w), (v, [1.0]), (v, M), (M, M), (Float64[], Float64[]), (v, [1, 2]), (M, v), (v, 1:2)]
        ask(mapreduce, f, op, two...)
        some(3) && ask(mapreduce, f, op, two...; init = 2.0)
        some(3) && ask(mapreduce, f, op, two...; dims = 1)
    end
    x = Any[1.0, v]
    for A in Any[v, M, N3, Float32[1], [x, x], fill(1.0), Float64[], [NaN]]
        ask(copied, A)
        ask(copied_twice, A)
    end
    for A in Any[M, Float32[1 2; 3 4; 5 6], [1 2; 3 4], M .+ 1im, numbered(Float64, 2, 3)], pivot in (Val(false), Val(true)), name in (:Q, :R, :P, :p, :factors, :τ, :jpvt, :other)
        ask(factor, A, pivot, name)
    end
    ask(factor, zeros(0, 2), Val(true), :P)
    for A in Any[M, Float32[1 2; 3 4; 5 6], [1 2; 3 4], M .+ 1im, numbered(Float64, 2, 3), zeros(2, 2), zeros(0, 2), Tridiagonal(M)], name in (:L, :U, :p, :P, :factors, :ipiv, :info, :other)
        ask(part_of_lu, A, name)
    end
    for given in Any[(:sin => sin, :cos => cos), (:a => 1, :b => 2.5), [:a => 1, :b => 2], Any[:a => 1, (:b, 2)], [(1, 2), (3, 4)], zip([1, 2], ["a", "b"]), zip([1, 2], [1.5, 2.5], [3, 4]), [1, 2], (1, 2), Dict(1 => 2), Pair[:a => 1, 2 => 3]]
        ask(Dict, given)
        given isa Tuple || continue
        ask(Dict, given...)
        foreach(D -> ask(D, given...), (Dict{Any,Any}, Dict{Symbol,Float64}, Dict{Symbol,Any}, Dict{Int,Int}))
    end
    for T in (Float64, Float32, ComplexF64, Int, BigFloat), alpha in Any[1, 0, 2, 1.0, 0.0, 2.5, 1.5f0, true, 1im, NaN], beta in Any[1, 0, -2, 1.0, 0.0, 2.5, false, 1.0im]
        C = T <: BigFloat ? Matrix{T}(undef, 2, 2) : T <: Int ? fill(T(2^53 + 1), 2, 2) : T[NaN -0.0; 1 Inf]
        A, D, b = T[1 2; 3 4], Diagonal(T[1, 2]), T[1, -0.0]
        for (X, Y) in Any[(A, A), (A, A'), (D, A), (A, D), (A, b), (Symmetric(A), A), (UpperTriangular(A), A), (Tridiagonal(A), A), (Bidiagonal(A, :U), b), (2, A), (A, 3), (view(A, :, [2, 1]), A), (D, D'), (sparse(A), A), (UpperTriangular(A), 2)]
            some(T === Float64 ? 7 : 23) && ask(multiplied, C, X, Y, alpha, beta)
        end
    end
    for x in Any[0.0, -0.0, 1.5, -2.25, 1e300, 5e-324, Inf, NaN, 1.5f0, Float16(1.5), big(1.5), 3, 1 // 2, 1im], f in Any[modf, frexp, significand, exponent, nextfloat, prevfloat, eps, sincos, sinpi, cospi, x -> rem2pi(x, RoundNearest), x -> x:x:3x, x -> range(x; stop = 2.0, length = 3), x -> Base.mul12(x, 2x), x -> Base.div12(x, 3x)]
        ask(f, x)
    end
end

"What comes of a question: a value with its type, or an error."
function answer(q::Question)
    try
        x = Base.invokelatest(q.f, q.given...; q.keywords...)
        # Generators have no equality of their own.
        x isa Base.Generator ? (typeof(x), collect(x)) : (typeof(x), x)
    catch e
        e isa MethodError ? (typeof(e), string(e.f)) : (typeof(e), sprint(showerror, e))
    end
end
same(a, b) = a[1] === b[1] && (string(a[2]) == string(b[2]) || isequal(a[2], b[2]))

let M = [1.0 2; 3 4], v = [1.0, 2]
    pieces = Any[1, 2.5, 3.0f0, true, 1 + 2im, big(2.5), 1 // 2, missing, 'c', "text", nothing, v, [3.0, 4], Float32[1, 2], [1, 2], [1.0], Float64[], M, zeros(2, 0), numbered(Float64, 2, 2, 2), v', [3.0, 4]', transpose(v), M', 1:2, 1.0:2.0, view(M, :, 1), view(M, :, 1:1), Diagonal(v),
        Symmetric(M), sparse(M), I, Odd(3), Elsewhere([1.0, 2], 3), [[1.0], [2.0]], (1, 2), reshape(1:2, 1, 2), reshape(view(v, 1:2), 2, 1), BitArray([true, false]), SharedArray{Float64}(2), Any[1.0, 2]]
    ask_all(pieces, v, [3.0, 4], M, numbered(Float64, 2, 2, 2))
end
function asked_twice()
    before = Any[answer(q) for q in asked]
    ambiguous = detect_ambiguities(Base, LinearAlgebra, SparseArrays; imported = true)
    # All methods that a derivative may add.
    Enzyme.Unrolled.add_methods!() && Enzyme.Models.keep_bits!(Enzyme.Rules.never_inline!) || error("methods are there already")
    after = Any[Base.invokelatest(answer, q) for q in asked]
    changed = String[string(q.f, " of ", q.given, q.keywords, ": ", b, ", then ", a) for (q, b, a) in zip(asked, before, after) if !same(b, a)]
    @test isempty(changed)
    isempty(changed) || println(length(changed), " of ", length(asked), " answers have changed:\n", join(changed[1:min(end, 60)], "\n"))
    @test count(b -> !(b[1] <: Exception), before) > 1000
    @test isempty(setdiff(detect_ambiguities(Base, LinearAlgebra, SparseArrays; imported = true), ambiguous))
end

@testset "derivatives change no other function" begin
    asked_twice()
end
