// Vector kernels with `restrict`, in the style of BLAS, called as people call them: the dot product of a vector with
// itself, a rank-one update with twice the same vector (nothing is written through those pointers, so it is legal),
// slices of one array as different arguments. Orthogonal iteration by Gram-Schmidt; loss = Rayleigh quotients + loss
// of orthogonality.
// Source: Golub, Van Loan, "Matrix Computations", section 8.2.4.
//
// corpus: link O2
#include "corpus.h"

// Out of line, as they are when they come from a library.
#define KERNEL __attribute__((noinline)) static

KERNEL double ddot(int n, const double *restrict x, const double *restrict y)
{
    double sum = 0.0;
    for (int i = 0; i < n; i++)
        sum += x[i] * y[i];
    return sum;
}

KERNEL void daxpy(int n, double alpha, const double *restrict x, double *restrict y)
{
    for (int i = 0; i < n; i++)
        y[i] += alpha * x[i];
}

KERNEL void dscal(int n, double alpha, double *x)
{
    for (int i = 0; i < n; i++)
        x[i] *= alpha;
}

KERNEL void dger(int n, double alpha, const double *restrict x, const double *restrict y, double *restrict a)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            a[i * n + j] += alpha * x[i] * y[j];
}

KERNEL void dgemv(int n, const double *restrict a, const double *restrict x, double *restrict y)
{
    for (int i = 0; i < n; i++)
        y[i] = ddot(n, a + i * n, x);
}

static double iteration_loss(const double *samples, int count, int n, int vectors, int rounds)
{
    double *a = calloc((size_t)(n * n), sizeof(double)), *q = calloc((size_t)(n * vectors), sizeof(double));
    double *w = malloc(sizeof(double) * (size_t)n), loss = 0.0;
    for (int s = 0; s < count; s++)
        dger(n, 1.0 / count, samples + s * n, samples + s * n, a);
    for (int v = 0; v < vectors; v++)
        daxpy(n, 1.0, samples + v * n, q + v * n);
    for (int round = 0; round < rounds; round++)
        for (int v = 0; v < vectors; v++) {
            dgemv(n, a, q + v * n, w);
            for (int u = 0; u < v; u++)
                daxpy(n, -ddot(n, q + u * n, w), q + u * n, w);
            dscal(n, 1.0 / sqrt(ddot(n, w, w)), w);
            memcpy(q + v * n, w, sizeof(double) * (size_t)n);
        }
    for (int v = 0; v < vectors; v++) {
        dgemv(n, a, q + v * n, w);
        loss += ddot(n, q + v * n, w) * (v + 1);
        for (int u = 0; u <= v; u++)
            loss += ddot(n, q + u * n, q + v * n);
    }
    free(w);
    free(q);
    free(a);
    return loss;
}

enum { COUNT = CORPUS_SIZE(15, 4), N = CORPUS_SIZE(8, 3), VECTORS = 2, ROUNDS = CORPUS_SIZE(6, 2), SIZE = COUNT * N };

static double point[SIZE];

static void setup(void)
{
    corpus_seed(221);
    corpus_fill(point, SIZE, -1.0, 1.0);
}

static double value(const double *x)
{
    return iteration_loss(x, COUNT, N, VECTORS, ROUNDS);
}

static double tangent(const double *x, const double *v)
{
    return __enzyme_fwddiff((void *)iteration_loss, enzyme_dup, x, v, enzyme_const, COUNT, enzyme_const, N,
                            enzyme_const, VECTORS, enzyme_const, ROUNDS);
}

static void gradient(const double *x, double *g)
{
    corpus_zero(g, SIZE);
    __enzyme_autodiff((void *)iteration_loss, enzyme_dup, x, g, enzyme_const, COUNT, enzyme_const, N, enzyme_const,
                      VECTORS, enzyme_const, ROUNDS);
}

static const struct corpus_problem problem = {
    .name = "blas_restrict",
    .size = SIZE,
    .point = point,
    .setup = setup,
    .value = value,
    .tangent = tangent,
    .gradient = gradient,
};

CORPUS_MAIN(&problem)
