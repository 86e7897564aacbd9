// Heat in a rod, explicit steps in place (the corpus program): n cells, 1,000 steps. By hand: one row of temperatures is kept for
// each step, written by the forward sweep itself; the reverse sweep gathers, so that it vectorises like the forward one. The
// variant with checkpoints keeps every 32nd row and computes the rows between again: what is kept then fits a small cache.
// bench: limit 1M
#include "bench.h"

#include "../corpus/heat.c"

enum { HEAT_STEPS = 1000 };

struct rod {
    struct bench_point point;
    double *work, *target, ratio;
    int steps;
};

static void heat_into(double *temperature, const double *conductivity, const double *wanted, int n, int steps,
                      double share, double *restrict result)
{
    *result = heat_loss(temperature, conductivity, wanted, n, steps, share);
}

enum { SEGMENT = 32 };

BENCH_INLINE void hand_forward(double *rows, const double *restrict conductivity, int n, int steps, double ratio)
{
    for (int t = 0; t < steps; t++) {
        const double *restrict now = rows + (size_t)t * (size_t)n;
        double *restrict next = rows + (size_t)(t + 1) * (size_t)n;
        next[0] = now[0];
        next[n - 1] = now[n - 1];
        for (int i = 1; i < n - 1; i++) {
            double rate = ratio * conductivity[i] * (1.0 + 0.1 * now[i] * now[i]);
            next[i] = now[i] + rate * (now[i - 1] - 2.0 * now[i] + now[i + 1]);
        }
    }
}

struct shares {
    double flow, own;
};

BENCH_INLINE struct shares hand_shares(const double *restrict now, const double *restrict g,
                                       const double *restrict conductivity, double *restrict conductivity_adjoint, int i,
                                       double ratio)
{
    double curve = now[i - 1] - 2.0 * now[i] + now[i + 1], factor = 1.0 + 0.1 * now[i] * now[i];
    double rate = ratio * conductivity[i], flow = g[i] * rate * factor;
    conductivity_adjoint[i] += g[i] * ratio * factor * curve;
    return (struct shares){flow, g[i] + (0.2 * g[i] * rate * now[i] * curve - 2.0 * flow)};
}

// One step back. The adjoint of a cell is what stays and what flows to its neighbours: one sweep, the left share in registers.
__attribute__((noinline)) static void hand_back(const double *restrict now, double *restrict g, const double *restrict conductivity,
                            double *restrict conductivity_adjoint, int n, double ratio)
{
    struct shares left = {0.0, 0.0}, here = hand_shares(now, g, conductivity, conductivity_adjoint, 1, ratio);
    g[0] += here.flow;
    for (int i = 1; i < n - 2; i++) {
        struct shares right = hand_shares(now, g, conductivity, conductivity_adjoint, i + 1, ratio);
        g[i] = here.own + left.flow + right.flow;
        left = here;
        here = right;
    }
    g[n - 2] = here.own + left.flow;
    g[n - 1] += here.flow;
}

// With segments of `length` steps: rows of one segment, and the first row of each.
BENCH_INLINE double adjoint_in_segments(const struct rod *data, double *restrict g, int length)
{
    int n = data->point.size, steps = data->steps, segments = (steps + length - 1) / length;
    size_t row = (size_t)n;
    const double *restrict conductivity = data->point.x + n;
    double ratio = data->ratio, loss = 0.0;
    double *tape = (double *)malloc(sizeof(double) * (size_t)(length + segments + 2) * row);
    double *starts = tape + (size_t)(length + 1) * row, *lambda = starts + (size_t)(segments - 1) * row, *sums = lambda + n;

    memcpy(tape, data->point.x, sizeof(double) * row);
    for (int segment = 0; segment < segments; segment++) {
        int count = segment == segments - 1 ? steps - segment * length : length;
        if (segment > 0)
            memcpy(tape, tape + (size_t)length * row, sizeof(double) * row);
        if (segment < segments - 1)
            memcpy(starts + (size_t)segment * row, tape, sizeof(double) * row);
        hand_forward(tape, conductivity, n, count, ratio);
    }
    const double *restrict last = tape + (size_t)(steps - (segments - 1) * length) * row;
    for (int i = 0; i < n; i++) {
        double error = last[i] - data->target[i];
        loss += error * error;
        lambda[i] = 2.0 / n * error;
        sums[i] = 0.0;
    }
    for (int segment = segments - 1; segment >= 0; segment--) {
        int count = segment == segments - 1 ? steps - segment * length : length;
        if (segment < segments - 1) {
            memcpy(tape, starts + (size_t)segment * row, sizeof(double) * row);
            hand_forward(tape, conductivity, n, count - 1, ratio);
        }
        for (int t = count - 1; t >= 0; t--) {
            hand_back(tape + (size_t)t * row, lambda, conductivity, sums, n, ratio);
        }
    }
    for (int i = 0; i < n; i++) {
        g[i] += lambda[i];
        g[n + i] += sums[i];
    }
    free(tape);
    return loss / n;
}

BENCH_INLINE double adjoint(const struct rod *data, double *restrict g)
{
    return adjoint_in_segments(data, g, data->steps);
}

static void bench_hand_checkpoints(struct bench_point *at, double *g)
{
    memset(g, 0, sizeof(double) * at->count);
    adjoint_in_segments((const struct rod *)at, g, SEGMENT);
}

static struct bench_point *bench_setup(int n)
{
    struct rod *data = BENCH_NEW(struct rod, 1);
    double *x = BENCH_NEW(double, 2 * n);
    data->point = (struct bench_point){n, 2 * (size_t)n, x};
    data->work = BENCH_NEW(double, n);
    data->target = BENCH_NEW(double, n);
    data->ratio = ratio;
    data->steps = n < 100 ? n : HEAT_STEPS;
    corpus_seed(110);
    for (int i = 0; i < n; i++)
        x[i] = sin(3.0 * i / n) + corpus_uniform(-0.1, 0.1);
    corpus_fill(x + n, (size_t)n, 0.8, 1.2);
    corpus_fill(data->target, (size_t)n, 0.0, 0.2);
    return &data->point;
}

static double bench_primal(struct bench_point *at)
{
    struct rod *data = (struct rod *)at;
    corpus_copy(data->work, at->x, (size_t)at->size);
    return heat_loss(data->work, at->x + at->size, data->target, at->size, data->steps, data->ratio);
}

static void bench_gradient(struct bench_point *at, double *g)
{
    struct rod *data = (struct rod *)at;
    int n = at->size;
    memset(g, 0, sizeof(double) * at->count);
    corpus_copy(data->work, at->x, (size_t)n);
    __enzyme_autodiff_void((void *)heat_loss, enzyme_dup, data->work, g, enzyme_dup, at->x + n, g + n, enzyme_const,
                           data->target, enzyme_const, n, enzyme_const, data->steps, enzyme_const, data->ratio);
}

static double bench_value_gradient(struct bench_point *at, double *g)
{
    struct rod *data = (struct rod *)at;
    int n = at->size;
    double result = 0.0, seed = 1.0;
    memset(g, 0, sizeof(double) * at->count);
    corpus_copy(data->work, at->x, (size_t)n);
    __enzyme_autodiff_void((void *)heat_into, enzyme_dup, data->work, g, enzyme_dup, at->x + n, g + n, enzyme_const,
                           data->target, enzyme_const, n, enzyme_const, data->steps, enzyme_const, data->ratio,
                           enzyme_dup, &result, &seed);
    return result;
}

BENCH_HAND(struct rod, adjoint)

static size_t bench_kept(int n)
{
    return sizeof(double) * (size_t)n * HEAT_STEPS; // the temperatures
}

static void bench_inputs(const struct bench_point *point, struct bench_input *inputs)
{
    const struct rod *data = (const struct rod *)point;
    inputs[0] = BENCH_REALS("target", data->target, point->size);
    inputs[1] = BENCH_INTEGERS("steps", &data->steps, 1);
    inputs[2] = BENCH_REALS("ratio", &data->ratio, 1);
}

const struct bench_kernel BENCH_NAME(BENCH_COLUMN) = {
    .name = "heat",
    .small = 40,
    .normal = 1000,
    .sweep = {100, 300, 1000, 3000},
    BENCH_FUNCTIONS,
    .inputs = bench_inputs,
    .hand_checkpoints = bench_hand_checkpoints,
    .kept = bench_kept,
};
