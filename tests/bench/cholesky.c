// Cholesky factors in place and the log-likelihood of a Gaussian (the corpus program). By hand: the adjoint of the factorisation,
// which needs the factor alone (it stands in the work space at the end), and that of the substitution; the updates run along rows.
// Source of the reverse recurrence: Smith, "Differentiation of the Cholesky algorithm", J. Comp. Graph. Stat. 4 (1995).
#include "bench.h"

#include "../corpus/cholesky.c"

struct gaussian {
    struct bench_point point;
    double *work;
};

static void likelihood_into(double *a, const double *b, int n, double *restrict result)
{
    *result = likelihood(a, b, n);
}

// With rows i and j of L: l_i_adjoint -= factor l_j, l_j_adjoint -= factor l_i.
__attribute__((noinline)) static void hand_rows(double *restrict i_adjoint, double *restrict j_adjoint,
                                                const double *restrict l_i, const double *restrict l_j, double factor,
                                                int count)
{
    for (int k = 0; k < count; k++) {
        i_adjoint[k] -= factor * l_j[k];
        j_adjoint[k] -= factor * l_i[k];
    }
}

__attribute__((noinline)) static void hand_axpy(double *restrict y, const double *restrict x, double factor, int count)
{
    for (int i = 0; i < count; i++)
        y[i] += factor * x[i];
}

BENCH_INLINE double adjoint(const struct gaussian *data, double *restrict g)
{
    int n = data->point.size;
    double *a = data->work, half[LARGEST], seed[LARGEST], total = 0.0;
    const double *b = data->point.x + n * n;
    corpus_copy(a, data->point.x, (size_t)(n * n));
    cholesky(a, n);
    for (int i = 0; i < n; i++) {
        half[i] = b[i];
        for (int j = 0; j < i; j++)
            half[i] -= a[i * n + j] * half[j];
        half[i] /= a[i * n + i];
        total += 2.0 * log(a[i * n + i]) + half[i] * half[i];
        seed[i] = 2.0 * half[i];
    }
    for (int i = n - 1; i >= 0; i--) {
        double slope = seed[i] / a[i * n + i];
        g[i * n + i] += 2.0 / a[i * n + i] - slope * half[i];
        hand_axpy(g + i * n, half, -slope, i);
        hand_axpy(seed, a + i * n, -slope, i);
        g[n * n + i] += slope;
    }
    for (int j = n - 1; j >= 0; j--) {
        double inverse = 1.0 / a[j * n + j], diagonal = g[j * n + j];
        for (int i = n - 1; i > j; i--) {
            double slope = g[i * n + j] * inverse;
            diagonal -= slope * a[i * n + j];
            g[i * n + j] = slope;
            hand_rows(g + i * n, g + j * n, a + i * n, a + j * n, slope, j);
        }
        diagonal *= 0.5 * inverse;
        g[j * n + j] = diagonal;
        hand_axpy(g + j * n, a + j * n, -2.0 * diagonal, j);
    }
    return total;
}

static struct bench_point *bench_setup(int n)
{
    struct gaussian *data = BENCH_NEW(struct gaussian, 1);
    size_t count = (size_t)(n * n + n);
    data->point = (struct bench_point){n, count, BENCH_NEW(double, count)};
    data->work = BENCH_NEW(double, n *n);
    corpus_seed(117);
    corpus_fill(data->point.x, count, -1.0, 1.0);
    for (int i = 0; i < n; i++)
        data->point.x[i * n + i] += n;
    corpus_fill(data->point.x + n * n, (size_t)n, -n, n);
    return &data->point;
}

static double bench_primal(struct bench_point *at)
{
    struct gaussian *data = (struct gaussian *)at;
    int squared = at->size * at->size;
    corpus_copy(data->work, at->x, (size_t)squared);
    return likelihood(data->work, at->x + squared, at->size);
}

static void bench_gradient(struct bench_point *at, double *g)
{
    struct gaussian *data = (struct gaussian *)at;
    int squared = at->size * at->size;
    memset(g, 0, sizeof(double) * at->count);
    corpus_copy(data->work, at->x, (size_t)squared);
    __enzyme_autodiff_void((void *)likelihood, enzyme_dup, data->work, g, enzyme_dup, at->x + squared, g + squared,
                           enzyme_const, at->size);
}

static double bench_value_gradient(struct bench_point *at, double *g)
{
    struct gaussian *data = (struct gaussian *)at;
    int squared = at->size * at->size;
    double result = 0.0, seed = 1.0;
    memset(g, 0, sizeof(double) * at->count);
    corpus_copy(data->work, at->x, (size_t)squared);
    __enzyme_autodiff_void((void *)likelihood_into, enzyme_dup, data->work, g, enzyme_dup, at->x + squared, g + squared,
                           enzyme_const, at->size, enzyme_dup, &result, &seed);
    return result;
}

BENCH_HAND(struct gaussian, adjoint)

const struct bench_kernel BENCH_NAME(BENCH_COLUMN) = {
    .name = "cholesky",
    .small = 12,
    .normal = 120,
    .sweep = {16, 60, 120, 240},
    BENCH_FUNCTIONS,
};
