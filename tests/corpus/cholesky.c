// A = L L^T in place in the lower triangle, then loss = log det A + b^T A^-1 b = 2 sum log L_ii + |L^-1 b|^2: the negative
// log-likelihood of a Gaussian, up to constants. The strictly upper triangle is never read: its gradient is zero.
// Source: Golub, Van Loan, "Matrix Computations", section 4.2.
#include "corpus.h"

static void cholesky(double *a, int n)
{
    for (int j = 0; j < n; j++) {
        for (int k = 0; k < j; k++)
            a[j * n + j] -= a[j * n + k] * a[j * n + k];
        a[j * n + j] = sqrt(a[j * n + j]);
        for (int i = j + 1; i < n; i++) {
            double sum = a[i * n + j];
            for (int k = 0; k < j; k++)
                sum -= a[i * n + k] * a[j * n + k];
            a[i * n + j] = sum / a[j * n + j];
        }
    }
}

enum { LARGEST = 256 };

static double likelihood(double *a, const double *b, int n)
{
    double half[LARGEST];
    double total = 0.0;
    cholesky(a, n);
    for (int i = 0; i < n; i++) {
        half[i] = b[i];
        for (int j = 0; j < i; j++)
            half[i] -= a[i * n + j] * half[j];
        half[i] /= a[i * n + i];
        total += 2.0 * log(a[i * n + i]) + half[i] * half[i];
    }
    return total;
}

enum { N = CORPUS_SIZE(30, 4), SIZE = N * N + N };

static double point[SIZE], work[N * N], shadow[N * N];

static void setup(void)
{
    corpus_seed(11);
    corpus_fill(point, SIZE, -1.0, 1.0);
    for (int i = 0; i < N; i++)
        point[i * N + i] += N;
    corpus_fill(point + N * N, N, -N, N);
}

static double value(const double *x)
{
    corpus_copy(work, x, N * N);
    return likelihood(work, x + N * N, N);
}

static double tangent(const double *x, const double *v)
{
    corpus_copy(work, x, N * N);
    corpus_copy(shadow, v, N * N);
    return __enzyme_fwddiff((void *)likelihood, enzyme_dup, work, shadow, enzyme_dup, x + N * N, v + N * N,
                            enzyme_const, N);
}

static void gradient(const double *x, double *g)
{
    corpus_copy(work, x, N * N);
    corpus_zero(g, SIZE);
    __enzyme_autodiff((void *)likelihood, enzyme_dup, work, g, enzyme_dup, x + N * N, g + N * N, enzyme_const, N);
}

static void gradient_no_need(const double *x, double *g)
{
    corpus_copy(work, x, N * N);
    corpus_zero(g, SIZE);
    __enzyme_autodiff((void *)likelihood, enzyme_dupnoneed, work, g, enzyme_dupnoneed, x + N * N, g + N * N, N);
}

static int extra(void)
{
    double upper = 0.0, *g = corpus_vector(SIZE);
    gradient(point, g);
    for (int i = 0; i < N; i++)
        for (int j = i + 1; j < N; j++)
            upper = fmax(upper, fabs(g[i * N + j]));
    free(g);
    return corpus_check("cholesky", "gradient above the diagonal is zero", upper, 0.0);
}

static const struct corpus_problem problem = {
    .name = "cholesky",
    .size = SIZE,
    .point = point,
    .setup = setup,
    .value = value,
    .tangent = tangent,
    .gradient = gradient,
    .variants = {{.name = "gradient with enzyme_dupnoneed", .gradient = gradient_no_need}},
    .extra = extra,
};

CORPUS_MAIN(&problem)
