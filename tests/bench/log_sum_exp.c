// log sum_i exp(x_i) with the shift of the corpus program. By hand: the exponentials are computed again, nothing is kept.
#include "bench.h"

#include "../corpus/logsumexp.c"

static void log_sum_exp_into(const double *x, int n, double *restrict result)
{
    *result = log_sum_exp(x, n);
}

BENCH_INLINE double adjoint(const struct bench_point *data, double *restrict g)
{
    const double *restrict x = data->x;
    double total = log_sum_exp(x, data->size);
    for (int i = 0; i < data->size; i++)
        g[i] += exp(x[i] - total);
    return total;
}

static struct bench_point *bench_setup(int size)
{
    struct bench_point *data = BENCH_NEW(struct bench_point, 1);
    *data = (struct bench_point){size, (size_t)size, BENCH_NEW(double, size)};
    corpus_seed(102);
    corpus_fill(data->x, data->count, -2.0, 3.0);
    return data;
}

static double bench_primal(struct bench_point *data)
{
    return log_sum_exp(data->x, data->size);
}

static void bench_gradient(struct bench_point *data, double *g)
{
    memset(g, 0, sizeof(double) * data->count);
    __enzyme_autodiff_void((void *)log_sum_exp, enzyme_dup, data->x, g, enzyme_const, data->size);
}

static double bench_value_gradient(struct bench_point *data, double *g)
{
    double value = 0.0, seed = 1.0;
    memset(g, 0, sizeof(double) * data->count);
    __enzyme_autodiff_void((void *)log_sum_exp_into, enzyme_dup, data->x, g, enzyme_const, data->size, enzyme_dup,
                           &value, &seed);
    return value;
}

BENCH_HAND(struct bench_point, adjoint)

const struct bench_kernel BENCH_NAME(BENCH_COLUMN) = {
    .name = "log_sum_exp",
    .small = 500,
    .normal = 1000000,
    .sweep = {1000, 10000, 100000, 1000000},
    BENCH_FUNCTIONS,
    .tolerance = 1e-6, // the shift's own derivative, one less the sum of all shares, is all rounding
};
