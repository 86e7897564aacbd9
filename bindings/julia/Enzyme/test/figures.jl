# What derivatives cost, as docs/julia.md states it: the first call in a process, further functions, further calls, and gradients against their primals.
# Processor time; the least of several measurements. No test: nothing here fails.
#
# usage: julia figures.jl

using Enzyme, Test

function seconds()
    time = zeros(Int, 2)
    ccall(:clock_gettime, Cint, (Cint, Ptr{Int}), 2, time)
    time[1] + 1e-9time[2]
end
seconds()

fresh(x) = x * sin(x) + exp(x)
further(x) = x * cos(x) + exp(x)
a = seconds()
autodiff(Reverse, fresh, Active, Active(1.0))
b = seconds()
autodiff(Reverse, further, Active, Active(1.0))
c = seconds()
println("first derivative in a process: $(round(b - a; digits = 2)) s, of a further function: $(round(c - b; digits = 2)) s")

"Seconds of one call, the least of ten times `n` calls."
function cost(f, n)
    f()
    best = Inf
    for _ in 1:10
        start = seconds()
        for _ in 1:n
            f()
        end
        best = min(best, seconds() - start)
    end
    best / n
end

const where_to = Ref(0.0)
bare = cost(() -> (where_to[] += fresh(where_to[] / 1e9); nothing), 10^5)
derived = cost(() -> (where_to[] += autodiff(Reverse, fresh, Active, Active(where_to[] / 1e9))[1][1]; nothing), 10^5)
println("further calls: $(round(1e9derived)) ns, the function itself: $(round(1e9bare)) ns")

using LinearAlgebra, Statistics
include("programs.jl")

function compare(name, n, primal, gradient)
    p, g = cost(primal, n), cost(gradient, n)
    println("$name: primal $(round(1e6p; digits = 1)) µs, gradient $(round(1e6g; digits = 1)) µs: $(round(g / p; digits = 2)) times")
end

const u, du, size_of = make_plane(32), make_plane(32), 32
const dplane, ddu = zero(u), ones(size(u))
compare("Brusselator 32 x 32, a step in place", 200, () -> brusselator!(du, u, size_of, 3.4, 1.0, 0.2),
    () -> autodiff(Reverse, brusselator!, Const, Duplicated(du, ddu), Duplicated(u, dplane), Const(size_of), Const(3.4), Const(1.0), Const(0.2)))

const cell, dcell = make_cell(16, 8), make_zero(make_cell(16, 8))
const signals = [sin(i * t) for i in 1:8, t in 1:50]
compare("LSTM of 16 cells, 50 steps", 20, () -> lstm_loss(cell, signals, 16),
    () -> autodiff(Reverse, lstm_loss, Active, Duplicated(cell, dcell), Const(signals), Const(16)))
