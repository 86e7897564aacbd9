// Sum of squares: sum_i x_i^2. Nothing need be kept: the data is still there.
#include "bench.h"

static double sum_squares(const double *x, int n)
{
    double sum = 0.0;
    for (int i = 0; i < n; i++)
        sum += x[i] * x[i];
    return sum;
}

static void sum_squares_into(const double *x, int n, double *restrict result)
{
    *result = sum_squares(x, n);
}

BENCH_INLINE double adjoint(const struct bench_point *data, double *restrict g)
{
    const double *restrict x = data->x;
    double sum = 0.0;
    for (int i = 0; i < data->size; i++) {
        sum += x[i] * x[i];
        g[i] += 2.0 * x[i];
    }
    return sum;
}

static struct bench_point *bench_setup(int size)
{
    struct bench_point *data = BENCH_NEW(struct bench_point, 1);
    *data = (struct bench_point){size, (size_t)size, BENCH_NEW(double, size)};
    corpus_seed(101);
    corpus_fill(data->x, data->count, -1.0, 1.0);
    return data;
}

static double bench_primal(struct bench_point *data)
{
    return sum_squares(data->x, data->size);
}

static void bench_gradient(struct bench_point *data, double *g)
{
    memset(g, 0, sizeof(double) * data->count);
    __enzyme_autodiff_void((void *)sum_squares, enzyme_dup, data->x, g, enzyme_const, data->size);
}

CORPUS_UNUSED static double bench_value_gradient(struct bench_point *data, double *g)
{
    double value = 0.0, seed = 1.0;
    memset(g, 0, sizeof(double) * data->count);
    __enzyme_autodiff_void((void *)sum_squares_into, enzyme_dup, data->x, g, enzyme_const, data->size, enzyme_dup,
                           &value, &seed);
    return value;
}

BENCH_HAND(struct bench_point, adjoint)

const struct bench_kernel BENCH_NAME(BENCH_COLUMN) = {
    .name = "sum_squares",
    .small = 1000,
    .normal = 1000000,
    .sweep = {1000, 10000, 100000, 1000000},
    BENCH_FUNCTIONS,
};
