// Ten sweeps of a five-point stencil over an n x n grid with a halo, between two arrays: before each sweep the halo is filled from
// the opposite edge,
//
//   next = here + c (north + south + west + east - 4 here),   c constant in time, different in each cell
//
// loss = sum of the squares of the last grid / 2. The sweeps are linear: no value of the grid need be kept. By hand: the adjoint
// stencil gathers c times adjoint from the four neighbours, with the halo filled in the same way.
// Source: LeVeque, "Finite Difference Methods for Ordinary and Partial Differential Equations", section 9.7.
#include "bench.h"

enum { SWEEPS = 10 };

static const int sweeps = SWEEPS;

struct grid {
    struct bench_point point;
    double *now, *next, *now_adjoint, *next_adjoint, *coefficient;
};

static void fill_halo(double *grid, int n)
{
    int row = n + 2;
    for (int j = 1; j <= n; j++) {
        grid[j] = grid[n * row + j];
        grid[(n + 1) * row + j] = grid[row + j];
    }
    for (int i = 1; i <= n; i++) {
        grid[i * row] = grid[i * row + n];
        grid[i * row + n + 1] = grid[i * row + 1];
    }
}

static void sweep(const double *restrict now, double *restrict next, const double *restrict coefficient, int n)
{
    int row = n + 2;
    for (int i = 1; i <= n; i++)
        for (int j = 1; j <= n; j++) {
            int k = i * row + j;
            next[k] = now[k] + coefficient[k] * (now[k - row] + now[k + row] + now[k - 1] + now[k + 1] - 4.0 * now[k]);
        }
}

static double stencil_loss(double *now, double *next, const double *coefficient, int n, int sweeps)
{
    double loss = 0.0;
    for (int t = 0; t < sweeps; t += 2) {
        fill_halo(now, n);
        sweep(now, next, coefficient, n);
        fill_halo(next, n);
        sweep(next, now, coefficient, n);
    }
    for (int i = 1; i <= n; i++)
        for (int j = 1; j <= n; j++)
            loss += 0.5 * now[i * (n + 2) + j] * now[i * (n + 2) + j];
    return loss;
}

static void stencil_into(double *now, double *next, const double *coefficient, int n, int sweeps,
                         double *restrict result)
{
    *result = stencil_loss(now, next, coefficient, n, sweeps);
}

__attribute__((noinline)) static void hand_sweep(const double *restrict now, double *restrict next,
                                                 const double *restrict coefficient, int n)
{
    int row = n + 2;
    for (int i = 1; i <= n; i++)
        for (int j = 1; j <= n; j++) {
            int k = i * row + j;
            next[k] = now[k] - 4.0 * coefficient[k] * now[k] + coefficient[k - row] * now[k - row] +
                      coefficient[k + row] * now[k + row] + coefficient[k - 1] * now[k - 1] +
                      coefficient[k + 1] * now[k + 1];
        }
}

// The coefficient's own halo is filled once, by setup.
BENCH_INLINE double adjoint(const struct grid *data, double *restrict g)
{
    int n = data->point.size, row = n + 2;
    double *now = data->now, *next = data->next;
    corpus_copy(now, data->point.x, data->point.count);
    double loss = stencil_loss(now, next, data->coefficient, n, SWEEPS);
    for (int t = 0; t < SWEEPS; t += 2) {
        fill_halo(now, n);
        hand_sweep(now, next, data->coefficient, n);
        fill_halo(next, n);
        hand_sweep(next, now, data->coefficient, n);
    }
    for (int i = 1; i <= n; i++)
        for (int j = 1; j <= n; j++)
            g[i * row + j] += now[i * row + j];
    return loss;
}

static struct bench_point *bench_setup(int n)
{
    struct grid *data = BENCH_NEW(struct grid, 1);
    size_t count = (size_t)((n + 2) * (n + 2));
    data->point = (struct bench_point){n, count, BENCH_NEW(double, count)};
    data->now = BENCH_NEW(double, count);
    data->next = BENCH_NEW(double, count);
    data->now_adjoint = BENCH_NEW(double, count);
    data->next_adjoint = BENCH_NEW(double, count);
    data->coefficient = BENCH_NEW(double, count);
    corpus_seed(116);
    corpus_fill(data->point.x, count, -1.0, 1.0);
    corpus_fill(data->coefficient, count, 0.05, 0.2);
    fill_halo(data->coefficient, n);
    return &data->point;
}

static double bench_primal(struct bench_point *at)
{
    struct grid *data = (struct grid *)at;
    corpus_copy(data->now, at->x, at->count);
    return stencil_loss(data->now, data->next, data->coefficient, at->size, SWEEPS);
}

static void bench_gradient(struct bench_point *at, double *g)
{
    struct grid *data = (struct grid *)at;
    memset(g, 0, sizeof(double) * at->count);
    memset(data->next_adjoint, 0, sizeof(double) * at->count);
    corpus_copy(data->now, at->x, at->count);
    __enzyme_autodiff_void((void *)stencil_loss, enzyme_dup, data->now, g, enzyme_dup, data->next, data->next_adjoint,
                           enzyme_const, data->coefficient, enzyme_const, at->size, enzyme_const, SWEEPS);
}

static double bench_value_gradient(struct bench_point *at, double *g)
{
    struct grid *data = (struct grid *)at;
    double result = 0.0, seed = 1.0;
    memset(g, 0, sizeof(double) * at->count);
    memset(data->next_adjoint, 0, sizeof(double) * at->count);
    corpus_copy(data->now, at->x, at->count);
    __enzyme_autodiff_void((void *)stencil_into, enzyme_dup, data->now, g, enzyme_dup, data->next, data->next_adjoint,
                           enzyme_const, data->coefficient, enzyme_const, at->size, enzyme_const, SWEEPS, enzyme_dup,
                           &result, &seed);
    return result;
}

BENCH_HAND(struct grid, adjoint)

static void bench_inputs(const struct bench_point *point, struct bench_input *inputs)
{
    const struct grid *data = (const struct grid *)point;
    inputs[0] = BENCH_REALS("coefficient", data->coefficient, (point->size + 2) * (point->size + 2));
    inputs[1] = BENCH_INTEGERS("sweeps", &sweeps, 1);
}

const struct bench_kernel BENCH_NAME(BENCH_COLUMN) = {
    .name = "stencil",
    .small = 10,
    .normal = 200,
    .sweep = {50, 100, 200, 400, 800},
    BENCH_FUNCTIONS,
    .inputs = bench_inputs,
};
