// A sparse matrix times a vector (compressed rows, 10 entries in each of n rows): loss = |A x - b|^2 / 2; active: the entries and x.
// By hand: one sweep, as a row's residual is its own adjoint; nothing is kept.
// Source: Saad, "Iterative Methods for Sparse Linear Systems", section 3.4.
#include "bench.h"

enum { PER_ROW = 10 };

struct sparse {
    struct bench_point point;
    int *starts, *columns;
    double *target;
};

static double spmv_loss(const int *starts, const int *columns, const double *entries, const double *x,
                        const double *target, int n)
{
    double loss = 0.0;
    for (int i = 0; i < n; i++) {
        double residual = -target[i];
        for (int k = starts[i]; k < starts[i + 1]; k++)
            residual += entries[k] * x[columns[k]];
        loss += 0.5 * residual * residual;
    }
    return loss;
}

static void spmv_into(const int *starts, const int *columns, const double *entries, const double *x,
                      const double *target, int n, double *restrict result)
{
    *result = spmv_loss(starts, columns, entries, x, target, n);
}

BENCH_INLINE double adjoint(const struct sparse *data, double *restrict g)
{
    int n = data->point.size;
    const int *restrict starts = data->starts, *restrict columns = data->columns;
    const double *restrict entries = data->point.x, *restrict x = entries + starts[n];
    double *restrict entries_adjoint = g, *restrict x_adjoint = g + starts[n], loss = 0.0;
    for (int i = 0; i < n; i++) {
        double residual = -data->target[i];
        for (int k = starts[i]; k < starts[i + 1]; k++)
            residual += entries[k] * x[columns[k]];
        loss += 0.5 * residual * residual;
        for (int k = starts[i]; k < starts[i + 1]; k++) {
            entries_adjoint[k] += residual * x[columns[k]];
            x_adjoint[columns[k]] += residual * entries[k];
        }
    }
    return loss;
}

static struct bench_point *bench_setup(int n)
{
    struct sparse *data = BENCH_NEW(struct sparse, 1);
    size_t count = (size_t)n * (PER_ROW + 1);
    data->point = (struct bench_point){n, count, BENCH_NEW(double, count)};
    data->starts = BENCH_NEW(int, n + 1);
    data->columns = BENCH_NEW(int, n *PER_ROW);
    data->target = BENCH_NEW(double, n);
    corpus_seed(115);
    corpus_fill(data->point.x, count, -1.0, 1.0);
    corpus_fill(data->target, (size_t)n, -1.0, 1.0);
    for (int i = 0; i < n; i++) {
        data->starts[i + 1] = (i + 1) * PER_ROW;
        for (int k = 0; k < PER_ROW; k++)
            data->columns[i * PER_ROW + k] = (int)corpus_uniform(0.0, n);
    }
    return &data->point;
}

static double bench_primal(struct bench_point *at)
{
    struct sparse *data = (struct sparse *)at;
    return spmv_loss(data->starts, data->columns, at->x, at->x + at->size * PER_ROW, data->target, at->size);
}

static void bench_gradient(struct bench_point *at, double *g)
{
    struct sparse *data = (struct sparse *)at;
    int first = at->size * PER_ROW;
    memset(g, 0, sizeof(double) * at->count);
    __enzyme_autodiff_void((void *)spmv_loss, enzyme_const, data->starts, enzyme_const, data->columns, enzyme_dup,
                           at->x, g, enzyme_dup, at->x + first, g + first, enzyme_const, data->target, enzyme_const,
                           at->size);
}

static double bench_value_gradient(struct bench_point *at, double *g)
{
    struct sparse *data = (struct sparse *)at;
    int first = at->size * PER_ROW;
    double result = 0.0, seed = 1.0;
    memset(g, 0, sizeof(double) * at->count);
    __enzyme_autodiff_void((void *)spmv_into, enzyme_const, data->starts, enzyme_const, data->columns, enzyme_dup,
                           at->x, g, enzyme_dup, at->x + first, g + first, enzyme_const, data->target, enzyme_const,
                           at->size, enzyme_dup, &result, &seed);
    return result;
}

BENCH_HAND(struct sparse, adjoint)

static size_t bench_kept(int n)
{
    return sizeof(double) * (size_t)n; // the residuals
}

static void bench_inputs(const struct bench_point *point, struct bench_input *inputs)
{
    const struct sparse *data = (const struct sparse *)point;
    inputs[0] = BENCH_INTEGERS("starts", data->starts, point->size + 1);
    inputs[1] = BENCH_INTEGERS("columns", data->columns, point->size * PER_ROW);
    inputs[2] = BENCH_REALS("target", data->target, point->size);
}

const struct bench_kernel BENCH_NAME(BENCH_COLUMN) = {
    .name = "spmv",
    .small = 50,
    .normal = 20000,
    .sweep = {200, 2000, 20000, 200000},
    BENCH_FUNCTIONS,
    .inputs = bench_inputs,
    .kept = bench_kept,
};
