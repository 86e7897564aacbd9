"""The mathematics of the kernels in JAX, as its users would write it: arrays for loops over elements, lax.scan for steps in time, its own
factorisations. One core, numbers of 64 bits.

    kernels_jax.py KERNEL DATA PROGRAM SECONDS

DATA is what `PROGRAM --write-data` wrote: x, the other inputs, and the value and gradient of the kernel, which those here must equal.
PROGRAM, the kernel itself, is measured in turns with JAX, as the primal that the times here are compared with. Lines of the output are
those of main.c: AGREE and TIME, for jax.primal (the program's primal), jax.value (JAX's own) and jax.gradient, compiled before they are
timed.
"""

import os
import subprocess
import sys
import time

# Before JAX counts the processors.
os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false"
os.environ["JAX_PLATFORMS"] = "cpu"
os.environ["JAX_ENABLE_X64"] = "true"

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.scipy.linalg import solve_triangular
from jax.scipy.special import logsumexp


def sum_squares(x, _):
    return jnp.sum(x * x)


def log_sum_exp(x, _):
    return logsumexp(x)


def matvec_loss(x, data):
    residual = data.matrix.reshape(x.size, x.size) @ x - data.target
    return 0.5 * residual @ residual


def mlp(x, data):
    activation, begin = data.samples.reshape(data.size, -1), 0
    for layer, (columns, rows) in enumerate(zip(data.widths[:-1], data.widths[1:])):
        weights = x[begin : begin + rows * columns].reshape(rows, columns)
        begin += rows * (columns + 1)
        activation = activation @ weights.T + x[begin - rows : begin]
        if layer < data.layers - 1:
            activation = jnp.tanh(activation)
    losses = logsumexp(activation, axis=1) - activation[jnp.arange(data.size), data.labels]
    return jnp.mean(losses) + 0.5 * data.decay * jnp.sum(x * x)


def gmm(x, data):
    d, k, n = data.d, data.k, data.size
    alphas, means, factors = x[:k], x[k : k + k * d].reshape(k, d), x[k + k * d :].reshape(k, -1)
    logarithms, lower = factors[:, :d], factors[:, d:]
    diagonals = jnp.exp(logarithms)
    # The strictly lower part is stored by columns.
    columns, rows = np.triu_indices(d, 1)
    matrices = jnp.zeros((k, d, d)).at[:, rows, columns].set(lower) + diagonals[:, :, None] * jnp.eye(d)
    centred = data.points.reshape(n, 1, d) - means
    scaled = jnp.einsum("kij,nkj->nki", matrices, centred)
    sums = jnp.sum(logarithms, axis=1)
    terms = alphas + sums - 0.5 * jnp.sum(scaled * scaled, axis=2)
    prior = 0.5 * data.gamma**2 * (jnp.sum(diagonals**2) + jnp.sum(lower**2)) - data.m * jnp.sum(sums)
    freedom = d + data.m + 1
    halves = jax.scipy.special.gammaln(0.5 * (freedom + 1 - np.arange(1, d + 1)))
    log_gamma = 0.25 * d * (d - 1) * np.log(np.pi) + jnp.sum(halves)
    constant = -n * d * 0.5 * np.log(2.0 * np.pi) - k * (freedom * d * (np.log(data.gamma) - 0.5 * np.log(2.0)) - log_gamma)
    return jnp.sum(logsumexp(terms, axis=1)) - n * logsumexp(alphas) + prior + constant


def ba(x, data):
    first, last = 11 * data.cameras, 11 * data.cameras + 3 * data.positions
    pairs = data.observed.reshape(-1, 2)
    cameras, positions = x[:first].reshape(-1, 11)[pairs[:, 0]], x[first:last].reshape(-1, 3)[pairs[:, 1]]
    weights = x[last:]
    rotation, relative = cameras[:, 0:3], positions - cameras[:, 3:6]
    squared = jnp.sum(rotation * rotation, axis=1, keepdims=True)
    turning = squared != 0.0
    angle = jnp.sqrt(jnp.where(turning, squared, 1.0))
    axis = rotation / angle
    along = jnp.sum(axis * relative, axis=1, keepdims=True) * (1.0 - jnp.cos(angle))
    turned = relative * jnp.cos(angle) + jnp.cross(axis, relative) * jnp.sin(angle) + axis * along
    seen = jnp.where(turning, turned, relative + jnp.cross(rotation, relative))
    image = seen[:, :2] / seen[:, 2:]
    square = jnp.sum(image * image, axis=1, keepdims=True)
    stretch = 1.0 + cameras[:, 9:10] * square + cameras[:, 10:11] * square * square
    placed = image * stretch * cameras[:, 6:7] + cameras[:, 7:9]
    residual = weights[:, None] * (placed - data.measured.reshape(-1, 2))
    return jnp.sum(residual * residual) + jnp.sum((1.0 - weights * weights) ** 2)


def lstm(x, data):
    layers, b = data.layers, data.b
    main, extra = x[: 8 * b * layers].reshape(layers, 2, 4, b), x[8 * b * layers :].reshape(3, b)
    sequence = data.sequence.reshape(-1, b)

    def step(state, now_and_next):
        now, truth = now_and_next
        signal, states = now * extra[0], []
        for layer in range(layers):
            (weights, biases), (hidden, cell) = main[layer], state[layer]
            forget, ingate, outgate = (
                jax.nn.sigmoid(value * weights[gate] + biases[gate]) for gate, value in enumerate((signal, hidden, signal))
            )
            cell = cell * forget + ingate * jnp.tanh(hidden * weights[3] + biases[3])
            signal = outgate * jnp.tanh(cell)
            states.append(jnp.stack((signal, cell)))
        output = signal * extra[1] + extra[2]
        return jnp.stack(states), jnp.sum(truth * (output - jnp.log(2.0 + jnp.sum(jnp.exp(output)))))

    _, terms = lax.scan(step, data.start.reshape(layers, 2, b), (sequence[:-1], sequence[1:]))
    return -jnp.sum(terms) / ((data.size - 1) * b)


def lstm_dense(x, data):
    inputs, units = data.inputs, data.units
    weights = x.reshape(4 * units, inputs + units + 1)
    of_inputs, of_units, biases = weights[:, :inputs], weights[:, inputs:-1], weights[:, -1]

    def step(state, now):
        hidden, cell = state
        gates = (of_inputs @ now[0] + of_units @ hidden + biases).reshape(4, units)
        ingate, forget, outgate = jax.nn.sigmoid(gates[:3])
        cell = forget * cell + ingate * jnp.tanh(gates[3])
        hidden = outgate * jnp.tanh(cell)
        error = hidden - now[1]
        return (hidden, cell), 0.5 * error @ error

    zero = jnp.zeros(units)
    _, losses = lax.scan(step, (zero, zero), (data.sequence.reshape(-1, inputs), data.targets.reshape(-1, units)))
    return jnp.sum(losses)


def fft(x, data):
    spectrum = jnp.fft.fft(lax.complex(x[: data.size], x[data.size :]))
    return jnp.sum(data.weights * jnp.log1p(spectrum.real**2 + spectrum.imag**2))


def heat(x, data):
    conductivity = x[data.size + 1 : -1]

    def step(now, _):
        here = now[1:-1]
        rate = data.ratio * conductivity * (1.0 + 0.1 * here * here)
        return now.at[1:-1].add(rate * (now[:-2] - 2.0 * here + now[2:])), None

    last, _ = lax.scan(step, x[: data.size], length=data.steps)
    return jnp.mean((last - data.target) ** 2)


def brusselator(x, data):
    n = data.size
    a, b, d = x[2 * n * n :]

    def laplace(field):
        return sum(jnp.roll(field, shift, axis) for axis in (0, 1) for shift in (1, -1)) - 4.0 * field

    def step(fields, _):
        u, w = fields
        reaction = u * u * w
        du = a - (b + 1.0) * u + reaction + d * laplace(u)
        dw = b * u - reaction + d * laplace(w)
        return (u + data.step * du, w + data.step * dw), None

    fields = x[: 2 * n * n].reshape(2, n, n)
    (u, w), _ = lax.scan(step, (fields[0], fields[1]), length=data.steps)
    return (jnp.sum((u - a) ** 2) + jnp.sum((w - b / a) ** 2)) / (n * n)


def rk4(x, data):
    force, h = x[data.size :], data.step

    def rate(state):
        return (jnp.roll(state, -1) - jnp.roll(state, 2)) * jnp.roll(state, 1) - state + force

    def step(state, _):
        k1 = rate(state)
        k2 = rate(state + 0.5 * h * k1)
        k3 = rate(state + 0.5 * h * k2)
        k4 = rate(state + h * k3)
        return state + h / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4), None

    last, _ = lax.scan(step, x[: data.size], length=data.steps)
    return 0.5 * jnp.sum((last - data.target) ** 2)


def nbody(x, data):
    n = data.size
    positions, velocities, masses, softening = x[: 3 * n].reshape(n, 3), x[3 * n : 6 * n].reshape(n, 3), x[6 * n : 7 * n], x[7 * n]
    apart = positions[:, None] - positions
    terms = masses[:, None] * masses / jnp.sqrt(softening**2 + jnp.sum(apart * apart, axis=2))
    return 0.5 * jnp.sum(masses * jnp.sum(velocities**2, axis=1)) - jnp.sum(jnp.triu(terms, 1))


def spmv(x, data):
    count = data.columns.size
    rows = np.repeat(np.arange(data.size), np.diff(data.starts))
    products = x[:count] * x[count:][data.columns]
    residual = jax.ops.segment_sum(products, rows, data.size, indices_are_sorted=True) - data.target
    return 0.5 * residual @ residual


def stencil(x, data):
    n = data.size
    coefficient = data.coefficient.reshape(n + 2, n + 2)[1:-1, 1:-1]

    def sweep(grid, _):
        around = sum(jnp.roll(grid, shift, axis) for axis in (0, 1) for shift in (1, -1))
        return grid + coefficient * (around - 4.0 * grid), None

    last, _ = lax.scan(sweep, x.reshape(n + 2, n + 2)[1:-1, 1:-1], length=data.sweeps)
    return 0.5 * jnp.sum(last * last)


def cholesky(x, data):
    n = data.size
    given = x[: n * n].reshape(n, n)
    factor = jnp.linalg.cholesky(jnp.tril(given) + jnp.tril(given, -1).T, symmetrize_input=False)
    half = solve_triangular(factor, x[n * n :], lower=True)
    return 2.0 * jnp.sum(jnp.log(jnp.diag(factor))) + half @ half


def lu_solve(x, data):
    n = data.size
    solution = jnp.linalg.solve(x[: n * n].reshape(n, n), x[n * n :])
    return 0.5 * jnp.sum(data.weights * solution * solution)


class Data:
    """The inputs by name; an array of one number is that number."""

    def __init__(self, path):
        with open(path, "rb") as file:
            while line := file.readline():
                name, kind, count = line.split()
                values = np.frombuffer(file.read(int(count) * np.dtype(kind.decode()).itemsize), dtype=kind.decode())
                setattr(self, name.decode(), values[0].item() if values.size == 1 else values)


def distance(ours, theirs):
    return np.max(np.abs(ours - theirs)) / max(np.max(np.abs(theirs)), 1e-300)


def batch(function, x, repetitions):
    start = time.process_time_ns()
    for _ in range(repetitions):
        jax.block_until_ready(function(x))
    return (time.process_time_ns() - start) / repetitions


def main(kernel, path, program, seconds):
    data, failed = Data(path), False
    x = jnp.asarray(data.x)
    function = globals()[kernel]
    jax_value = jax.jit(lambda at: function(at, data))
    jax_gradient = jax.jit(jax.grad(lambda at: function(at, data)))

    # The order of sums is XLA's own.
    tolerance = max(data.tolerance, 1e-9)
    for name, mine, theirs in (("value", jax_value(x), data.value), ("gradient", jax_gradient(x), data.gradient)):
        error = distance(np.asarray(mine), np.asarray(theirs))
        good = error <= tolerance
        failed |= not good
        print(f"AGREE {kernel} {data.size} jax.{name} {error:.3g} {tolerance:.3g} {'ok' if good else 'FAIL'}")

    samples = {"primal": [], "value": [], "gradient": []}
    functions = {"value": jax_value, "gradient": jax_gradient}
    rounds, share = 5, seconds / 15.0
    for _ in range(rounds):
        command = [program, "--size", str(data.size), "--variant", "primal", "--time", str(share)]
        words = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()
        samples["primal"].append(float(words[4]))
        for name, compiled in functions.items():
            once = batch(compiled, x, 1)
            repetitions = 1 + int(5e5 / max(once, 1e4))
            start = time.process_time()
            while time.process_time() - start < share or len(samples[name]) < 3:
                samples[name].append(batch(compiled, x, repetitions))
    for name, times in samples.items():
        print(f"TIME {kernel} {data.size} jax.{name} {min(times):.6g} {np.median(times):.6g}")
    return failed


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:4], float(sys.argv[4])))
