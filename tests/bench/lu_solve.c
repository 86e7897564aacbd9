// Solves A x = b by elimination in place (the corpus program), loss = sum w_i x_i^2 / 2. By hand: the adjoint of the elimination
// itself. What it needs are the factors, which stand in the work space at the end: nothing is kept, and the updates run along
// rows. (Who knows the theory solves A^T y = dL/dx with the factors at hand instead, in n^2 operations: another algorithm.)
#include "bench.h"

#include "../corpus/lu_solve.c"

struct equations {
    struct bench_point point;
    double *work, *weights;
};

static void solve_into(double *a, double *b, const double *shares, int n, double *restrict result)
{
    *result = solve_loss(a, b, shares, n);
}

// y += factor x
__attribute__((noinline)) static void hand_axpy(double *restrict y, const double *restrict x, double factor, int count)
{
    for (int i = 0; i < count; i++)
        y[i] += factor * x[i];
}

// row_adjoint . other, and other_adjoint -= factor row_adjoint: the adjoint of row -= factor other.
__attribute__((noinline)) static double hand_eliminate(const double *restrict row_adjoint, const double *restrict other,
                                                       double *restrict other_adjoint, double factor, int count)
{
    double sums[4] = {0.0, 0.0, 0.0, 0.0};
    int i = 0;
    for (; i + 4 <= count; i += 4)
        for (int k = 0; k < 4; k++) {
            sums[k] += row_adjoint[i + k] * other[i + k];
            other_adjoint[i + k] -= factor * row_adjoint[i + k];
        }
    for (; i < count; i++) {
        sums[0] += row_adjoint[i] * other[i];
        other_adjoint[i] -= factor * row_adjoint[i];
    }
    return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

BENCH_INLINE double adjoint(const struct equations *data, double *restrict g)
{
    int n = data->point.size;
    double *a = data->work, *b = a + n * n, *a_adjoint = g, *b_adjoint = g + n * n, loss = 0.0;
    double *half = (double *)malloc(sizeof(double) * 2 * (size_t)n), *seed = half + n;
    corpus_copy(a, data->point.x, data->point.count);
    factorise(a, n);
    for (int i = 1; i < n; i++)
        for (int j = 0; j < i; j++)
            b[i] -= a[i * n + j] * b[j];
    memcpy(half, b, sizeof(double) * (size_t)n);
    for (int i = n - 1; i >= 0; i--) {
        for (int j = i + 1; j < n; j++)
            b[i] -= a[i * n + j] * b[j];
        b[i] /= a[i * n + i];
    }
    for (int i = 0; i < n; i++) {
        loss += 0.5 * data->weights[i] * b[i] * b[i];
        seed[i] = data->weights[i] * b[i];
    }
    for (int i = 0; i < n; i++) {
        double slope = seed[i] / a[i * n + i];
        a_adjoint[i * n + i] -= slope * b[i];
        hand_axpy(seed + i + 1, a + i * n + i + 1, -slope, n - i - 1);
        hand_axpy(a_adjoint + i * n + i + 1, b + i + 1, -slope, n - i - 1);
        seed[i] = slope;
    }
    for (int i = n - 1; i > 0; i--) {
        hand_axpy(a_adjoint + i * n, half, -seed[i], i);
        hand_axpy(seed, a + i * n, -seed[i], i);
    }
    hand_axpy(b_adjoint, seed, 1.0, n);
    for (int k = n - 1; k >= 0; k--) {
        double pivot = 1.0 / a[k * n + k];
        for (int i = n - 1; i > k; i--) {
            double factor = a[i * n + k];
            double slope = a_adjoint[i * n + k] - hand_eliminate(a_adjoint + i * n + k + 1, a + k * n + k + 1,
                                                                  a_adjoint + k * n + k + 1, factor, n - k - 1);
            a_adjoint[i * n + k] = slope * pivot;
            a_adjoint[k * n + k] -= slope * pivot * factor;
        }
    }
    free(half);
    return loss;
}

static struct bench_point *bench_setup(int n)
{
    struct equations *data = BENCH_NEW(struct equations, 1);
    size_t count = (size_t)(n * n + n);
    double *x = BENCH_NEW(double, count);
    data->point = (struct bench_point){n, count, x};
    data->work = BENCH_NEW(double, count);
    data->weights = BENCH_NEW(double, n);
    corpus_seed(114);
    corpus_fill(x, count, -1.0, 1.0);
    for (int i = 0; i < n; i++) {
        x[i * n + i] += n;
        x[n * n + i] *= n;
    }
    corpus_fill(data->weights, (size_t)n, 0.5, 1.5);
    return &data->point;
}

static double bench_primal(struct bench_point *at)
{
    struct equations *data = (struct equations *)at;
    corpus_copy(data->work, at->x, at->count);
    return solve_loss(data->work, data->work + at->size * at->size, data->weights, at->size);
}

static void bench_gradient(struct bench_point *at, double *g)
{
    struct equations *data = (struct equations *)at;
    int n = at->size;
    memset(g, 0, sizeof(double) * at->count);
    corpus_copy(data->work, at->x, at->count);
    __enzyme_autodiff_void((void *)solve_loss, enzyme_dup, data->work, g, enzyme_dup, data->work + n * n, g + n * n,
                           enzyme_const, data->weights, enzyme_const, n);
}

static double bench_value_gradient(struct bench_point *at, double *g)
{
    struct equations *data = (struct equations *)at;
    int n = at->size;
    double result = 0.0, seed = 1.0;
    memset(g, 0, sizeof(double) * at->count);
    corpus_copy(data->work, at->x, at->count);
    __enzyme_autodiff_void((void *)solve_into, enzyme_dup, data->work, g, enzyme_dup, data->work + n * n, g + n * n,
                           enzyme_const, data->weights, enzyme_const, n, enzyme_dup, &result, &seed);
    return result;
}

BENCH_HAND(struct equations, adjoint)

static size_t bench_kept(int n)
{
    return sizeof(double) * (size_t)n; // b between the two substitutions
}

static void bench_inputs(const struct bench_point *point, struct bench_input *inputs)
{
    const struct equations *data = (const struct equations *)point;
    inputs[0] = BENCH_REALS("weights", data->weights, point->size);
}

const struct bench_kernel BENCH_NAME(BENCH_COLUMN) = {
    .name = "lu_solve",
    .small = 12,
    .normal = 100,
    .sweep = {16, 50, 100, 200},
    BENCH_FUNCTIONS,
    .inputs = bench_inputs,
    .kept = bench_kept,
};
