// Least squares: |A x - b|^2 / 2 for a constant n x n matrix. By hand: the adjoint of a row's residual is the residual, so one
// sweep over the matrix serves value and gradient, and nothing is kept.
#include "bench.h"

struct matvec {
    struct bench_point point;
    double *matrix, *target;
};

static double matvec_loss(const double *matrix, const double *x, const double *target, int n)
{
    double loss = 0.0;
    for (int i = 0; i < n; i++) {
        double residual = -target[i];
        for (int j = 0; j < n; j++)
            residual += matrix[i * n + j] * x[j];
        loss += 0.5 * residual * residual;
    }
    return loss;
}

static void matvec_loss_into(const double *matrix, const double *x, const double *target, int n,
                             double *restrict result)
{
    *result = matvec_loss(matrix, x, target, n);
}

BENCH_INLINE double adjoint(const struct matvec *data, double *restrict g)
{
    const double *restrict x = data->point.x;
    int n = data->point.size;
    double loss = 0.0;
    for (int i = 0; i < n; i++) {
        const double *restrict row = data->matrix + i * n;
        double residual = -data->target[i];
        for (int j = 0; j < n; j++)
            residual += row[j] * x[j];
        loss += 0.5 * residual * residual;
        for (int j = 0; j < n; j++)
            g[j] += residual * row[j];
    }
    return loss;
}

static struct bench_point *bench_setup(int n)
{
    struct matvec *data = BENCH_NEW(struct matvec, 1);
    data->point = (struct bench_point){n, (size_t)n, BENCH_NEW(double, n)};
    data->matrix = BENCH_NEW(double, n *n);
    data->target = BENCH_NEW(double, n);
    corpus_seed(103);
    corpus_fill(data->point.x, (size_t)n, -1.0, 1.0);
    corpus_fill(data->matrix, (size_t)(n * n), -1.0, 1.0);
    corpus_fill(data->target, (size_t)n, -1.0, 1.0);
    return &data->point;
}

static double bench_primal(struct bench_point *point)
{
    struct matvec *data = (struct matvec *)point;
    return matvec_loss(data->matrix, point->x, data->target, point->size);
}

static void bench_gradient(struct bench_point *point, double *g)
{
    struct matvec *data = (struct matvec *)point;
    memset(g, 0, sizeof(double) * point->count);
    __enzyme_autodiff_void((void *)matvec_loss, enzyme_const, data->matrix, enzyme_dup, point->x, g, enzyme_const,
                           data->target, enzyme_const, point->size);
}

static double bench_value_gradient(struct bench_point *point, double *g)
{
    struct matvec *data = (struct matvec *)point;
    double value = 0.0, seed = 1.0;
    memset(g, 0, sizeof(double) * point->count);
    __enzyme_autodiff_void((void *)matvec_loss_into, enzyme_const, data->matrix, enzyme_dup, point->x, g, enzyme_const,
                           data->target, enzyme_const, point->size, enzyme_dup, &value, &seed);
    return value;
}

BENCH_HAND(struct matvec, adjoint)

static size_t bench_kept(int n)
{
    return sizeof(double) * (size_t)n; // the residuals
}

static void bench_inputs(const struct bench_point *point, struct bench_input *inputs)
{
    const struct matvec *data = (const struct matvec *)point;
    inputs[0] = BENCH_REALS("matrix", data->matrix, point->size * point->size);
    inputs[1] = BENCH_REALS("target", data->target, point->size);
}

const struct bench_kernel BENCH_NAME(BENCH_COLUMN) = {
    .name = "matvec_loss",
    .small = 40,
    .normal = 1000,
    .sweep = {50, 200, 1000, 2000},
    BENCH_FUNCTIONS,
    .inputs = bench_inputs,
    .kept = bench_kept,
};
