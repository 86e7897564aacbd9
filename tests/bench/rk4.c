// Classical Runge-Kutta steps of the Lorenz-96 system, state in place,
//
//   x_i' = (x_{i+1} - x_{i-2}) x_{i-1} - x_i + f_i       (indices modulo n)
//
// and loss = |x(T) - target|^2 / 2; active: the state at the start and the forcing f. By hand: the state before each step is kept,
// the stages are computed again; the reverse of a rate gathers.
// Source: Lorenz, "Predictability: a problem partly solved" (1996); Hairer, Norsett, Wanner, "Solving Ordinary Differential
// Equations I", section II.1.
// bench: limit 400K
#include "bench.h"

struct trajectory {
    struct bench_point point;
    int steps;
    double step, *state, *work, *work_adjoint, *target;
};

static void rate(const double *restrict x, const double *restrict force, double *restrict slope, int n)
{
    slope[0] = (x[1] - x[n - 2]) * x[n - 1] - x[0] + force[0];
    slope[1] = (x[2] - x[n - 1]) * x[0] - x[1] + force[1];
    for (int i = 2; i < n - 1; i++)
        slope[i] = (x[i + 1] - x[i - 2]) * x[i - 1] - x[i] + force[i];
    slope[n - 1] = (x[0] - x[n - 3]) * x[n - 2] - x[n - 1] + force[n - 1];
}

// `work` has room for a stage and four slopes.
static double rk4_loss(double *restrict state, const double *restrict force, double *restrict work,
                       const double *restrict target, int n, int steps, double step)
{
    double *stage = work, *k1 = work + n, *k2 = k1 + n, *k3 = k2 + n, *k4 = k3 + n, loss = 0.0;
    for (int t = 0; t < steps; t++) {
        rate(state, force, k1, n);
        for (int i = 0; i < n; i++)
            stage[i] = state[i] + 0.5 * step * k1[i];
        rate(stage, force, k2, n);
        for (int i = 0; i < n; i++)
            stage[i] = state[i] + 0.5 * step * k2[i];
        rate(stage, force, k3, n);
        for (int i = 0; i < n; i++)
            stage[i] = state[i] + step * k3[i];
        rate(stage, force, k4, n);
        for (int i = 0; i < n; i++)
            state[i] += step / 6.0 * (k1[i] + 2.0 * k2[i] + 2.0 * k3[i] + k4[i]);
    }
    for (int i = 0; i < n; i++)
        loss += 0.5 * (state[i] - target[i]) * (state[i] - target[i]);
    return loss;
}

static void rk4_into(double *restrict state, const double *restrict force, double *restrict work,
                     const double *restrict target, int n, int steps, double step, double *restrict result)
{
    *result = rk4_loss(state, force, work, target, n, steps, step);
}

// x_adjoint = the adjoint of `rate` with respect to x for the seed s; x_j is in the rates of j-1, j+2, j+1 and j.
__attribute__((noinline)) static void hand_rate(const double *restrict x, const double *restrict s,
                                                double *restrict x_adjoint, int n)
{
    x_adjoint[0] = s[n - 1] * x[n - 2] - s[2] * x[1] + s[1] * (x[2] - x[n - 1]) - s[0];
    x_adjoint[1] = s[0] * x[n - 1] - s[3] * x[2] + s[2] * (x[3] - x[0]) - s[1];
    for (int j = 2; j < n - 2; j++)
        x_adjoint[j] = s[j - 1] * x[j - 2] - s[j + 2] * x[j + 1] + s[j + 1] * (x[j + 2] - x[j - 1]) - s[j];
    x_adjoint[n - 2] = s[n - 3] * x[n - 4] - s[0] * x[n - 1] + s[n - 1] * (x[0] - x[n - 3]) - s[n - 2];
    x_adjoint[n - 1] = s[n - 2] * x[n - 3] - s[1] * x[0] + s[0] * (x[1] - x[n - 2]) - s[n - 1];
}

__attribute__((noinline)) static void hand_advance(const double *restrict state, const double *restrict slope,
                                                   double factor, double *restrict stage, int n)
{
    for (int i = 0; i < n; i++)
        stage[i] = state[i] + factor * slope[i];
}

BENCH_INLINE double adjoint(const struct trajectory *data, double *restrict g)
{
    int n = data->point.size, steps = data->steps;
    size_t row = (size_t)n;
    const double *force = data->point.x + n;
    double *tape = (double *)malloc(sizeof(double) * row * (size_t)(steps + 14)), h = data->step, loss = 0.0;
    double *stages = tape + row * (size_t)(steps + 1), *slopes = stages + 4 * row, *lambda = slopes + 4 * row;
    double *seed = lambda + row, *back = seed + row, *total = back + row;

    memcpy(tape, data->point.x, sizeof(double) * row);
    for (int t = 0; t < steps; t++) {
        const double *now = tape + row * (size_t)t;
        double *restrict next = tape + row * (size_t)(t + 1);
        rate(now, force, slopes, n);
        hand_advance(now, slopes, 0.5 * h, stages, n);
        rate(stages, force, slopes + n, n);
        hand_advance(now, slopes + n, 0.5 * h, stages, n);
        rate(stages, force, slopes + 2 * n, n);
        hand_advance(now, slopes + 2 * n, h, stages, n);
        rate(stages, force, slopes + 3 * n, n);
        for (int i = 0; i < n; i++)
            next[i] = now[i] + h / 6.0 * (slopes[i] + 2.0 * slopes[n + i] + 2.0 * slopes[2 * n + i] + slopes[3 * n + i]);
    }
    const double *last = tape + row * (size_t)steps;
    for (int i = 0; i < n; i++) {
        lambda[i] = last[i] - data->target[i];
        loss += 0.5 * lambda[i] * lambda[i];
        total[i] = 0.0;
    }
    for (int t = steps - 1; t >= 0; t--) {
        const double *now = tape + row * (size_t)t;
        rate(now, force, slopes, n);
        hand_advance(now, slopes, 0.5 * h, stages, n);
        rate(stages, force, slopes, n);
        hand_advance(now, slopes, 0.5 * h, stages + n, n);
        rate(stages + n, force, slopes, n);
        hand_advance(now, slopes, h, stages + 2 * n, n);
        // `sums` gathers the adjoint of the state from the four stages, `total` that of the forcing.
        double *restrict sums = slopes, *restrict s = seed, *restrict b = back, *restrict forces = total;
        for (int i = 0; i < n; i++) {
            s[i] = h / 6.0 * lambda[i];
            forces[i] += s[i];
        }
        hand_rate(stages + 2 * n, seed, back, n);
        for (int i = 0; i < n; i++) {
            sums[i] = lambda[i] + b[i];
            s[i] = h / 3.0 * lambda[i] + h * b[i];
            forces[i] += s[i];
        }
        hand_rate(stages + n, seed, back, n);
        for (int i = 0; i < n; i++) {
            sums[i] += b[i];
            s[i] = h / 3.0 * lambda[i] + 0.5 * h * b[i];
            forces[i] += s[i];
        }
        hand_rate(stages, seed, back, n);
        for (int i = 0; i < n; i++) {
            sums[i] += b[i];
            s[i] = h / 6.0 * lambda[i] + 0.5 * h * b[i];
            forces[i] += s[i];
        }
        hand_rate(now, seed, back, n);
        for (int i = 0; i < n; i++)
            lambda[i] = sums[i] + b[i];
    }
    for (int i = 0; i < n; i++) {
        g[i] += lambda[i];
        g[n + i] += total[i];
    }
    free(tape);
    return loss;
}

static struct bench_point *bench_setup(int n)
{
    struct trajectory *data = BENCH_NEW(struct trajectory, 1);
    double *x = BENCH_NEW(double, 2 * n);
    data->point = (struct bench_point){n, 2 * (size_t)n, x};
    data->steps = n < 20 ? 10 : 500;
    data->step = 0.005;
    data->state = BENCH_NEW(double, n);
    data->work = BENCH_NEW(double, 5 * n);
    data->work_adjoint = BENCH_NEW(double, 5 * n);
    data->target = BENCH_NEW(double, n);
    corpus_seed(112);
    corpus_fill(x, (size_t)n, -1.0, 3.0);
    corpus_fill(x + n, (size_t)n, 7.0, 9.0);
    corpus_fill(data->target, (size_t)n, -1.0, 3.0);
    return &data->point;
}

static double bench_primal(struct bench_point *at)
{
    struct trajectory *data = (struct trajectory *)at;
    int n = at->size;
    corpus_copy(data->state, at->x, (size_t)n);
    return rk4_loss(data->state, at->x + n, data->work, data->target, n, data->steps, data->step);
}

static void bench_gradient(struct bench_point *at, double *g)
{
    struct trajectory *data = (struct trajectory *)at;
    int n = at->size;
    memset(g, 0, sizeof(double) * at->count);
    memset(data->work_adjoint, 0, sizeof(double) * 5 * (size_t)n);
    corpus_copy(data->state, at->x, (size_t)n);
    __enzyme_autodiff_void((void *)rk4_loss, enzyme_dup, data->state, g, enzyme_dup, at->x + n, g + n, enzyme_dup,
                           data->work, data->work_adjoint, enzyme_const, data->target, enzyme_const, n, enzyme_const,
                           data->steps, enzyme_const, data->step);
}

static double bench_value_gradient(struct bench_point *at, double *g)
{
    struct trajectory *data = (struct trajectory *)at;
    int n = at->size;
    double result = 0.0, seed = 1.0;
    memset(g, 0, sizeof(double) * at->count);
    memset(data->work_adjoint, 0, sizeof(double) * 5 * (size_t)n);
    corpus_copy(data->state, at->x, (size_t)n);
    __enzyme_autodiff_void((void *)rk4_into, enzyme_dup, data->state, g, enzyme_dup, at->x + n, g + n, enzyme_dup,
                           data->work, data->work_adjoint, enzyme_const, data->target, enzyme_const, n, enzyme_const,
                           data->steps, enzyme_const, data->step, enzyme_dup, &result, &seed);
    return result;
}

BENCH_HAND(struct trajectory, adjoint)

static size_t bench_kept(int n)
{
    return sizeof(double) * 500 * (size_t)n; // the states
}

static void bench_inputs(const struct bench_point *point, struct bench_input *inputs)
{
    const struct trajectory *data = (const struct trajectory *)point;
    inputs[0] = BENCH_REALS("target", data->target, point->size);
    inputs[1] = BENCH_INTEGERS("steps", &data->steps, 1);
    inputs[2] = BENCH_REALS("step", &data->step, 1);
}

const struct bench_kernel BENCH_NAME(BENCH_COLUMN) = {
    .name = "rk4",
    .small = 12,
    .normal = 100,
    .sweep = {40, 100, 400, 1600},
    BENCH_FUNCTIONS,
    .inputs = bench_inputs,
    .kept = bench_kept,
    .tolerance = 1e-9, // the system is chaotic
};
