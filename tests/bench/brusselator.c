// The two-dimensional Brusselator with diffusion on a periodic n x n grid, explicit Euler steps in place, T = 1,000:
//
//   u += dt (a - (b + 1) u + u^2 w + d lap u),  w += dt (b u - u^2 w + d lap w)
//
// with both rates of change in work arrays. Active: the fields at the start and a, b, d. Loss = mean square distance to (a, b / a).
// By hand: the fields of each step are kept, written by the forward sweep itself. The Laplacian of the periodic grid is its own
// adjoint, so the reverse sweep gathers, and the adjoint of d is taken with the Laplacian of the adjoints, which is at hand; the
// sums for a, b, d run over columns, so that they vectorise in strict arithmetic, too. The variant with checkpoints keeps the
// fields of every 32nd step and computes those between again.
// Source: Hairer, Wanner, "Solving Ordinary Differential Equations II", section IV.10 (problem BRUSS-2D).
// bench: limit 1M
#include "bench.h"

enum { BRUSSELATOR_STEPS = 1000 };

struct reaction {
    struct bench_point point;
    double *fields, *rates, *rates_adjoint, step;
    int steps;
};

BENCH_INLINE double laplace(const double *row, const double *above, const double *below, int left, int here, int right)
{
    return above[here] + below[here] + row[left] + row[right] - 4.0 * row[here];
}

static void cell(const double *u, const double *w, int above, int row, int below, int left, int here, int right, double a,
                 double b, double d, double *du, double *dw)
{
    double laplace_u = laplace(u + row, u + above, u + below, left, here, right);
    double laplace_w = laplace(w + row, w + above, w + below, left, here, right);
    double reaction = u[row + here] * u[row + here] * w[row + here];
    du[row + here] = a - (b + 1.0) * u[row + here] + reaction + d * laplace_u;
    dw[row + here] = b * u[row + here] - reaction + d * laplace_w;
}

static double brusselator_loss(double *restrict fields, double *restrict rates, const double *restrict parameters, int n,
                               int steps, double step)
{
    double a = parameters[0], b = parameters[1], d = parameters[2], loss = 0.0;
    double *u = fields, *w = fields + n * n, *du = rates, *dw = rates + n * n;
    for (int t = 0; t < steps; t++) {
        for (int i = 0; i < n; i++) {
            int above = (i == 0 ? n - 1 : i - 1) * n, row = i * n, below = (i == n - 1 ? 0 : i + 1) * n;
            cell(u, w, above, row, below, n - 1, 0, 1, a, b, d, du, dw);
            for (int j = 1; j < n - 1; j++)
                cell(u, w, above, row, below, j - 1, j, j + 1, a, b, d, du, dw);
            cell(u, w, above, row, below, n - 2, n - 1, 0, a, b, d, du, dw);
        }
        for (int i = 0; i < 2 * n * n; i++)
            fields[i] += step * rates[i];
    }
    for (int i = 0; i < n * n; i++)
        loss += (u[i] - a) * (u[i] - a) + (w[i] - b / a) * (w[i] - b / a);
    return loss / (n * n);
}

static void brusselator_into(double *restrict fields, double *restrict rates, const double *restrict parameters, int n,
                             int steps, double step, double *restrict result)
{
    *result = brusselator_loss(fields, rates, parameters, n, steps, step);
}

struct sums {
    double *a, *b, *d;
};

BENCH_INLINE void hand_step(const double *restrict u, const double *restrict w, double *restrict next_u,
                            double *restrict next_w, int above, int row, int below, int left, int here, int right,
                            double a, double b, double d, double step)
{
    double laplace_u = laplace(u + row, u + above, u + below, left, here, right);
    double laplace_w = laplace(w + row, w + above, w + below, left, here, right);
    double reaction = u[row + here] * u[row + here] * w[row + here];
    next_u[row + here] = u[row + here] + step * (a - (b + 1.0) * u[row + here] + reaction + d * laplace_u);
    next_w[row + here] = w[row + here] + step * (b * u[row + here] - reaction + d * laplace_w);
}

// The adjoints before a step from those after it, lambda for u and mu for w; all sums lack the factor of the step.
BENCH_INLINE void hand_back(const double *restrict u, const double *restrict w, const double *restrict lambda,
                            const double *restrict mu, double *restrict next_lambda, double *restrict next_mu,
                            struct sums sums, int above, int row, int below, int left, int here, int right,
                            double b, double d, double step)
{
    int k = row + here;
    double laplace_lambda = laplace(lambda + row, lambda + above, lambda + below, left, here, right);
    double laplace_mu = laplace(mu + row, mu + above, mu + below, left, here, right);
    double apart = lambda[k] - mu[k], square = u[k] * u[k];
    sums.a[here] += lambda[k];
    sums.b[here] -= u[k] * apart;
    sums.d[here] += u[k] * laplace_lambda + w[k] * laplace_mu;
    next_lambda[k] = lambda[k] + step * ((2.0 * u[k] * w[k] - b) * apart - lambda[k] + d * laplace_lambda);
    next_mu[k] = mu[k] + step * (square * apart + d * laplace_mu);
}

enum { SEGMENT = 32 };

// A function of its own, so that what `restrict` says reaches the loop.
__attribute__((noinline)) static void hand_sweep(const double *restrict u, const double *restrict w,
                                                 double *restrict next_u, double *restrict next_w, int n, double a,
                                                 double b, double d, double step)
{
    for (int i = 0; i < n; i++) {
        int above = (i == 0 ? n - 1 : i - 1) * n, row = i * n, below = (i == n - 1 ? 0 : i + 1) * n;
        hand_step(u, w, next_u, next_w, above, row, below, n - 1, 0, 1, a, b, d, step);
        for (int j = 1; j < n - 1; j++)
            hand_step(u, w, next_u, next_w, above, row, below, j - 1, j, j + 1, a, b, d, step);
        hand_step(u, w, next_u, next_w, above, row, below, n - 2, n - 1, 0, a, b, d, step);
    }
}

__attribute__((noinline)) static void hand_sweep_back(const double *restrict u, const double *restrict w,
                                                      const double *restrict lambda, const double *restrict mu,
                                                      double *restrict next_lambda, double *restrict next_mu,
                                                      double *restrict sum_a, double *restrict sum_b,
                                                      double *restrict sum_d, int n, double b, double d, double step)
{
    struct sums sums = {sum_a, sum_b, sum_d};
    for (int i = 0; i < n; i++) {
        int above = (i == 0 ? n - 1 : i - 1) * n, row = i * n, below = (i == n - 1 ? 0 : i + 1) * n;
        hand_back(u, w, lambda, mu, next_lambda, next_mu, sums, above, row, below, n - 1, 0, 1, b, d, step);
        for (int j = 1; j < n - 1; j++)
            hand_back(u, w, lambda, mu, next_lambda, next_mu, sums, above, row, below, j - 1, j, j + 1, b, d, step);
        hand_back(u, w, lambda, mu, next_lambda, next_mu, sums, above, row, below, n - 2, n - 1, 0, b, d, step);
    }
}

// Rows of the tape: the fields at the start, then after each step.
BENCH_INLINE void hand_forward(double *tape, const double *parameters, int n, int steps, double step)
{
    size_t cells = (size_t)n * (size_t)n;
    for (int t = 0; t < steps; t++) {
        double *now = tape + 2 * cells * (size_t)t, *next = now + 2 * cells;
        hand_sweep(now, now + cells, next, next + cells, n, parameters[0], parameters[1], parameters[2], step);
    }
}

// With segments of `length` steps: fields of one segment, and those at the start of each.
BENCH_INLINE double adjoint_in_segments(const struct reaction *data, double *restrict g, int length)
{
    int n = data->point.size, steps = data->steps, segments = (steps + length - 1) / length;
    size_t cells = (size_t)n * (size_t)n, fields = 2 * cells;
    const double *restrict x = data->point.x, *restrict parameters = x + fields;
    double a = parameters[0], b = parameters[1], d = parameters[2], step = data->step, loss = 0.0;
    double *tape = (double *)malloc(sizeof(double) * (fields * (size_t)(length + segments + 1) + 3 * (size_t)n));
    double *starts = tape + fields * (size_t)(length + 1), *other = starts + fields * (size_t)(segments - 1);
    double *columns = other + fields;

    memcpy(tape, x, sizeof(double) * fields);
    for (int segment = 0; segment < segments; segment++) {
        int count = segment == segments - 1 ? steps - segment * length : length;
        if (segment > 0)
            memcpy(tape, tape + fields * (size_t)length, sizeof(double) * fields);
        if (segment < segments - 1)
            memcpy(starts + fields * (size_t)segment, tape, sizeof(double) * fields);
        hand_forward(tape, parameters, n, count, step);
    }
    const double *restrict last = tape + fields * (size_t)(steps - (segments - 1) * length);
    double share = 2.0 / (double)cells, a_adjoint = 0.0, ratio_adjoint = 0.0;
    double *lambda = steps & 1 ? other : g, *next = steps & 1 ? g : other;
    for (size_t i = 0; i < cells; i++) {
        double du = last[i] - a, dw = last[cells + i] - b / a;
        loss += du * du + dw * dw;
        lambda[i] = share * du;
        lambda[cells + i] = share * dw;
        a_adjoint -= share * du;
        ratio_adjoint -= share * dw;
    }
    memset(columns, 0, sizeof(double) * 3 * (size_t)n);
    for (int segment = segments - 1; segment >= 0; segment--) {
        int count = segment == segments - 1 ? steps - segment * length : length;
        if (segment < segments - 1) {
            memcpy(tape, starts + fields * (size_t)segment, sizeof(double) * fields);
            hand_forward(tape, parameters, n, count - 1, step);
        }
        for (int t = count - 1; t >= 0; t--) {
            const double *now = tape + fields * (size_t)t;
            hand_sweep_back(now, now + cells, lambda, lambda + cells, next, next + cells, columns, columns + n,
                            columns + 2 * n, n, b, d, step);
            double *kept = lambda;
            lambda = next;
            next = kept;
        }
    }
    double total[3] = {0.0, 0.0, 0.0};
    for (int j = 0; j < n; j++) {
        total[0] += columns[j];
        total[1] += columns[n + j];
        total[2] += columns[2 * n + j];
    }
    g[fields] += a_adjoint - ratio_adjoint * b / (a * a) + step * total[0];
    g[fields + 1] += ratio_adjoint / a + step * total[1];
    g[fields + 2] += step * total[2];
    free(tape);
    return loss / (double)cells;
}

BENCH_INLINE double adjoint(const struct reaction *data, double *restrict g)
{
    return adjoint_in_segments(data, g, data->steps);
}

static void bench_hand_checkpoints(struct bench_point *at, double *g)
{
    memset(g, 0, sizeof(double) * at->count);
    adjoint_in_segments((const struct reaction *)at, g, SEGMENT);
}

static struct bench_point *bench_setup(int n)
{
    struct reaction *data = BENCH_NEW(struct reaction, 1);
    int cells = n * n;
    double *x = BENCH_NEW(double, 2 * cells + 3);
    data->point = (struct bench_point){n, (size_t)(2 * cells + 3), x};
    data->fields = BENCH_NEW(double, 2 * cells);
    data->rates = BENCH_NEW(double, 2 * cells);
    data->rates_adjoint = BENCH_NEW(double, 2 * cells);
    data->step = 0.01;
    data->steps = n < 20 ? 30 : BRUSSELATOR_STEPS;
    corpus_seed(111);
    corpus_fill(x, (size_t)cells, 0.5, 1.5);
    corpus_fill(x + cells, (size_t)cells, 2.5, 3.5);
    x[2 * cells] = 1.0;
    x[2 * cells + 1] = 3.0;
    x[2 * cells + 2] = 2.0;
    return &data->point;
}

static double bench_primal(struct bench_point *at)
{
    struct reaction *data = (struct reaction *)at;
    int count = 2 * at->size * at->size;
    corpus_copy(data->fields, at->x, (size_t)count);
    return brusselator_loss(data->fields, data->rates, at->x + count, at->size, data->steps, data->step);
}

static void bench_gradient(struct bench_point *at, double *g)
{
    struct reaction *data = (struct reaction *)at;
    int count = 2 * at->size * at->size;
    memset(g, 0, sizeof(double) * at->count);
    memset(data->rates_adjoint, 0, sizeof(double) * (size_t)count);
    corpus_copy(data->fields, at->x, (size_t)count);
    __enzyme_autodiff_void((void *)brusselator_loss, enzyme_dup, data->fields, g, enzyme_dup, data->rates,
                           data->rates_adjoint, enzyme_dup, at->x + count, g + count, enzyme_const, at->size,
                           enzyme_const, data->steps, enzyme_const, data->step);
}

static double bench_value_gradient(struct bench_point *at, double *g)
{
    struct reaction *data = (struct reaction *)at;
    int count = 2 * at->size * at->size;
    double result = 0.0, seed = 1.0;
    memset(g, 0, sizeof(double) * at->count);
    memset(data->rates_adjoint, 0, sizeof(double) * (size_t)count);
    corpus_copy(data->fields, at->x, (size_t)count);
    __enzyme_autodiff_void((void *)brusselator_into, enzyme_dup, data->fields, g, enzyme_dup, data->rates,
                           data->rates_adjoint, enzyme_dup, at->x + count, g + count, enzyme_const, at->size,
                           enzyme_const, data->steps, enzyme_const, data->step, enzyme_dup, &result, &seed);
    return result;
}

BENCH_HAND(struct reaction, adjoint)

static size_t bench_kept(int n)
{
    return sizeof(double) * 2 * (size_t)n * (size_t)n * BRUSSELATOR_STEPS; // the fields
}

static void bench_inputs(const struct bench_point *point, struct bench_input *inputs)
{
    const struct reaction *data = (const struct reaction *)point;
    inputs[0] = BENCH_INTEGERS("steps", &data->steps, 1);
    inputs[1] = BENCH_REALS("step", &data->step, 1);
}

const struct bench_kernel BENCH_NAME(BENCH_COLUMN) = {
    .name = "brusselator",
    .small = 8,
    .normal = 26,
    .sweep = {26, 50, 98},
    BENCH_FUNCTIONS,
    .inputs = bench_inputs,
    .hand_checkpoints = bench_hand_checkpoints,
    .kept = bench_kept,
};
