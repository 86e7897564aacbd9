# Small programs: a recurrent network, a reaction in a plane, an iteration in time, an optimisation.

sigmoid(x) = 1 / (1 + exp(-x))

struct Cell
    W::Matrix{Float64}
    U::Matrix{Float64}
    b::Vector{Float64}
end

"One step of an LSTM: gates one below the other in W, U and b; h and c are overwritten."
function lstm_step!(cell::Cell, h, c, x, gates)
    n = length(h)
    @inbounds for i in 1:4n
        s = cell.b[i]
        for j in eachindex(x)
            s += cell.W[i, j] * x[j]
        end
        for j in 1:n
            s += cell.U[i, j] * h[j]
        end
        gates[i] = s
    end
    @inbounds for i in 1:n
        c[i] = sigmoid(gates[n+i]) * c[i] + sigmoid(gates[i]) * tanh(gates[2n+i])
        h[i] = sigmoid(gates[3n+i]) * tanh(c[i])
    end
end

function lstm_loss(cell::Cell, xs::Matrix{Float64}, n)
    h, c, gates = zeros(n), zeros(n), zeros(4n)
    x = zeros(size(xs, 1))
    loss = 0.0
    for t in 1:size(xs, 2)
        x .= view(xs, :, t)
        lstm_step!(cell, h, c, x, gates)
        loss += sum(abs2, h)
    end
    loss
end
make_cell(n, m) = Cell([sin(i + 2j) / 2 for i in 1:4n, j in 1:m], [cos(i - j) / 2 for i in 1:4n, j in 1:n], [0.1 * i / n for i in 1:4n])

"The right-hand side of the Brusselator on a torus."
function brusselator!(du, u, n, A, B, alpha)
    @inbounds for j in 1:n, i in 1:n
        left, right = i == 1 ? n : i - 1, i == n ? 1 : i + 1
        up, down = j == 1 ? n : j - 1, j == n ? 1 : j + 1
        x, y = u[i, j, 1], u[i, j, 2]
        r = x^2 * y
        du[i, j, 1] = alpha * (u[left, j, 1] + u[right, j, 1] + u[i, up, 1] + u[i, down, 1] - 4x) + B + r - (A + 1) * x
        du[i, j, 2] = alpha * (u[left, j, 2] + u[right, j, 2] + u[i, up, 2] + u[i, down, 2] - 4y) + A * x - r
    end
    nothing
end

function brusselator_run!(u, du, n, A, B, alpha, steps, dt)
    for _ in 1:steps
        brusselator!(du, u, n, A, B, alpha)
        @inbounds for i in eachindex(u)
            u[i] += dt * du[i]
        end
    end
    nothing
end
make_plane(n) = [1 + 0.3sin(2pi * i / n) * cos(2pi * j / n) + 0.5k for i in 1:n, j in 1:n, k in 1:2]

function rk4(f, x, t, dt)
    k1 = f(x, t)
    k2 = f(x + dt / 2 * k1, t + dt / 2)
    k3 = f(x + dt / 2 * k2, t + dt / 2)
    k4 = f(x + dt * k3, t + dt)
    x + dt / 6 * (k1 + 2k2 + 2k3 + k4)
end

rosenbrock(x) = sum(100 * (x[i+1] - x[i]^2)^2 + (1 - x[i])^2 for i in 1:(length(x) - 1))

@testset "LSTM" begin
    cell = make_cell(3, 2)
    xs = [sin(i * t) for i in 1:2, t in 1:5]
    @test test_reverse(lstm_loss, Active, (cell, Duplicated), (xs, Duplicated), (3, Const))
    @test test_forward(lstm_loss, Duplicated, (cell, Duplicated), (xs, Duplicated), (3, Const))
end

@testset "Brusselator" begin
    u = make_plane(6)
    @test test_reverse(brusselator!, Const, (zero(u), Duplicated), (u, Duplicated), (6, Const), (3.4, Active), (1.0, Active), (0.2, Active))
    @test test_forward(brusselator!, Const, (zero(u), Duplicated), (u, Duplicated), (6, Const), (3.4, Duplicated), (1.0, Const), (0.2, Duplicated))
    @test test_reverse(brusselator_run!, Const, (u, Duplicated), (zero(u), Duplicated), (6, Const), (3.4, Active), (1.0, Active), (0.2, Active), (10, Const), (0.01, Const))
end

@testset "iterations" begin
    decay(p) = (local y = 1.0; for n in 0:49; y = rk4((y, t) -> -p[1] * y + p[2] * sin(t), y, 0.1n, 0.1); end; y)
    @test test_reverse(decay, Active, ([0.7, 0.4], Duplicated))
    @test test_forward(decay, Duplicated, ([0.7, 0.4], Duplicated))
    vector_decay(A) = (local y = [1.0, 0.5]; for n in 1:10; y = rk4((y, t) -> A * y, y, 0.0, 0.1); end; sum(y))
    @test test_reverse(vector_decay, Active, ([-0.5 1.0; -1.0 -0.2], Duplicated))
    x = [-1.2, 1.0]
    for _ in 1:5000
        g, = gradient(Reverse, rosenbrock, x)
        x .-= 0.001 .* g
    end
    @test rosenbrock(x) < 0.02
    @test test_reverse(rosenbrock, Active, ([-1.2, 1.0, 0.5, 0.3], Duplicated))
    logsumexp(v) = (m = maximum(v); m + log(sum(exp.(v .- m))))
    @test test_reverse(logsumexp, Active, ([0.3, 0.8, 1.1], Duplicated))
    variance(v) = (m = sum(v) / length(v); sum((v .- m) .^ 2) / (length(v) - 1))
    @test test_reverse(variance, Active, ([0.3, 0.8, 1.1], Duplicated))
    forces(q) = (e = 0.0; for i in 1:size(q, 2), j in 1:(i - 1); r2 = sum(abs2, view(q, :, i) .- view(q, :, j)); e += r2^-6 - r2^-3; end; e)
    @test test_reverse(forces, Active, ([0.0 1.1 0.1; 0.1 0.0 1.2; 0.0 0.2 0.1], Duplicated); rtol = 1e-5)
end

# A range is made, and handed on by reference to what searches it.
@testset "interpolation" begin
    function interpolated(y, at)
        t = 0.0:0.25:1.0
        k = searchsortedlast(t, at)
        w = (at - t[k]) / 0.25
        (1 - w) * y[k] + w * y[k+1]
    end
    residual(y) = sum(interpolated(y, q)^2 for q in 0.1:0.1:0.9)
    @test test_reverse(residual, Active, ([0.3, 0.8, 1.1, 0.2, 0.5], Duplicated))
    @test test_forward(residual, Duplicated, ([0.3, 0.8, 1.1, 0.2, 0.5], Duplicated))
end

struct WithActivation{F}
    W::Matrix{Float64}
    b::Vector{Float64}
    f::F
end
(l::WithActivation)(x) = l.f.(l.W * x .+ l.b)
const inputs = [0.1, 0.5, 0.9]

@testset "as users write them" begin
    v, A, W = [0.3, 0.8, 1.1], [4.0 1 0.5; 0.3 5 1; 0.2 0.7 6], [0.1 0.2 -0.3; 0.4 -0.5 0.6]
    @test test_reverse((W, b) -> sum(abs2, WithActivation(copy(W'), [b; 0.3], identity)(WithActivation(W, b, tanh)([0.1, 0.2, 0.3]))), Active, (W, Duplicated), ([0.1, -0.2], Duplicated))
    @test test_reverse(A -> (S = A * A' ./ sqrt(3); E = exp.(S .- maximum(S; dims = 2)); sum(abs2, (E ./ sum(E; dims = 2)) * A)), Active, (A / 4, Duplicated))
    @test test_reverse((A, l) -> (b = [1.0, 2, 3]; sum((A'A + l * I) \ (A'b))), Active, (A, Duplicated), (0.3, Active))
    @test test_reverse(l -> logdet(cholesky(Symmetric([exp(-(a - b)^2 / 2l^2) for a in inputs, b in inputs] + 0.1I))), Active, (0.7, Active))
    @test test_reverse((v, w) -> mean(v) + var(v) + median(v) * quantile(v, 0.3) + cor(v, w), Active, (v, Duplicated), ([1.0, 0.2, 0.5], Duplicated))
    @test test_reverse((A, B) -> sum(abs2, kron(A, B)) + tr(A * A) + sum(diag(A) .^ 3) + dot(A, A), Active, (A, Duplicated), (W, Duplicated))
    @test test_reverse((A, v) -> sum(abs2, Diagonal(v) * (A + 2I) * Diagonal(v .^ 2)) + sum(Diagonal(v) \ A), Active, (A, Duplicated), (v, Duplicated))
    @test test_reverse(v -> sum(abs2, accumulate((a, b) -> a * b + b, v)) + mapreduce(sin, *, v) + sum(diff(v) .* circshift(v, 1)[1:2]), Active, (v, Duplicated))
    @test test_reverse(p -> (u = [1.0, 0.5]; for _ in 1:20; u += 0.01 * [p[1] * u[1] - p[2] * u[1] * u[2], -p[3] * u[2] + u[1] * u[2]]; end; sum(u)), Active, (v, Duplicated))
    @test test_reverse(v -> sum(map(v) do x
        y = x^2
        y > 0.5 ? y : sin(y)
    end) + sum(@. exp(-v^2) * sin(v) + v / (1 + v)), Active, (v, Duplicated))
    @test test_reverse(a -> (x = 1.0; for _ in 1:20; x -= (x^3 - a) / 3x^2; end; x), Active, (2.0, Active))
end

"A binary tree of numbers."
mutable struct Leaves
    value::Float64
    left::Union{Nothing,Leaves}
    right::Union{Nothing,Leaves}
end
insert(::Nothing, x) = Leaves(x, nothing, nothing)
insert(t::Leaves, x) = (x < t.value ? (t.left = insert(t.left, x)) : (t.right = insert(t.right, x)); t)
by_depth(::Nothing, depth) = 0.0
by_depth(t::Leaves, depth) = t.value * depth + by_depth(t.left, depth + 1) + by_depth(t.right, depth + 1)

struct Trajectory{F}
    f::F
    start::Vector{Float64}
end
function points(t::Trajectory; step = 0.1, until = 1.0)
    all, u = Vector{Float64}[], copy(t.start)
    for n in 0:round(Int, until / step)
        push!(all, copy(u))
        u = u + step * t.f(u, n * step)
    end
    (u = all, last = u)
end

"Steps as long as the error allows."
function adapted(p)
    u, t, step = 1.0, 0.0, 0.1
    while t < 1
        a = -p[1] * u + p[2]
        b = -p[1] * (u + step * a) + p[2]
        wrong = abs(b - a) * step / 2
        wrong < 0.05 && (u += step * (a + b) / 2; t += step)
        step = wrong < 0.01 ? 1.5step : wrong > 0.05 ? step / 2 : step
    end
    u^2 * p[3]
end

@testset "forward and reverse" begin
    x = [1.3, 0.7, 2.2]
    two(f, x) = test_reverse(f, Active, (x, Duplicated)) && test_forward(f, Duplicated, (x, Duplicated))
    @test two(v -> by_depth(foldl(insert, v; init = nothing), 1), x)
    @test two(p -> (s = points(Trajectory((u, t) -> -p[1] .* u .+ t, [1.0, p[2]])); sum(sum(abs2, u) for u in s.u) + s.last[1]), x)
    @test two(adapted, x)
    @test two(v -> (known = Dict{Int,Float64}(); f(n) = n < 2 ? v[1] : get!(() -> f(n - 1) * v[2] + f(n - 2), known, n); f(6)), x)
    @test two(v -> sum(prod(p) for p in Iterators.partition(v, 2)) + sum(a * b for (a, b) in Iterators.product(v, v) if a > b), x)
    @test two(v -> (w = [(a = y, b = 2y) for y in v]; w[1] = (a = v[2], b = w[3].b); sum(t.a * t.b for t in w)), x)
    @test two(v -> (c = zeros(3); for y in v; c[clamp(floor(Int, y) + 1, 1, 3)] += y^2; end; sum(c .* [1, 2, 3]) + sum(log(mean(exp(-(a - b)^2 / 2) for b in v)) for a in v)), x)
end
