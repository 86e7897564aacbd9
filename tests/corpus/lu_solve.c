// Solves A x = b by elimination in place without pivoting (A is diagonally dominant), loss = sum w_i x_i^2 / 2.
// Source: Golub, Van Loan, "Matrix Computations", sections 3.1 and 3.2.
#include "corpus.h"

static void factorise(double *a, int n)
{
    for (int k = 0; k < n; k++)
        for (int i = k + 1; i < n; i++) {
            a[i * n + k] /= a[k * n + k];
            for (int j = k + 1; j < n; j++)
                a[i * n + j] -= a[i * n + k] * a[k * n + j];
        }
}

static void substitute(const double *a, double *b, int n)
{
    for (int i = 1; i < n; i++)
        for (int j = 0; j < i; j++)
            b[i] -= a[i * n + j] * b[j];
    for (int i = n - 1; i >= 0; i--) {
        for (int j = i + 1; j < n; j++)
            b[i] -= a[i * n + j] * b[j];
        b[i] /= a[i * n + i];
    }
}

// Overwrites A by its factors and b by the solution.
static double solve_loss(double *a, double *b, const double *weights, int n)
{
    factorise(a, n);
    substitute(a, b, n);
    double loss = 0.0;
    for (int i = 0; i < n; i++)
        loss += 0.5 * weights[i] * b[i] * b[i];
    return loss;
}

enum { N = CORPUS_SIZE(32, 4), SIZE = N * N + N };

static double point[SIZE], weights[N], work[SIZE], shadow[SIZE];

static void setup(void)
{
    corpus_seed(10);
    corpus_fill(point, SIZE, -1.0, 1.0);
    for (int i = 0; i < N; i++)
        point[i * N + i] += N;
    corpus_fill(weights, N, 0.5, 1.5);
    for (int i = 0; i < N; i++)
        point[N * N + i] *= N;
}

static double value(const double *x)
{
    corpus_copy(work, x, SIZE);
    return solve_loss(work, work + N * N, weights, N);
}

static double tangent(const double *x, const double *v)
{
    corpus_copy(work, x, SIZE);
    corpus_copy(shadow, v, SIZE);
    return __enzyme_fwddiff((void *)solve_loss, enzyme_dup, work, shadow, enzyme_dup, work + N * N, shadow + N * N,
                            enzyme_const, weights, enzyme_const, N);
}

static void gradient(const double *x, double *g)
{
    corpus_copy(work, x, SIZE);
    corpus_zero(g, SIZE);
    __enzyme_autodiff((void *)solve_loss, enzyme_dup, work, g, enzyme_dup, work + N * N, g + N * N, enzyme_const,
                      weights, enzyme_const, N);
}

// The theory: A^T y = dL/dx, then dL/db = y and dL/dA = -y x^T.
static void gradient_by_theory(const double *x, double *g)
{
    double solution[N], transposed[N * N];
    corpus_copy(work, x, SIZE);
    solve_loss(work, work + N * N, weights, N);
    corpus_copy(solution, work + N * N, N);
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            transposed[i * N + j] = x[j * N + i];
    for (int i = 0; i < N; i++)
        g[N * N + i] = weights[i] * solution[i];
    factorise(transposed, N);
    substitute(transposed, g + N * N, N);
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            g[i * N + j] = -g[N * N + i] * solution[j];
}

static const struct corpus_problem problem = {
    .name = "lu_solve",
    .size = SIZE,
    .point = point,
    .setup = setup,
    .value = value,
    .tangent = tangent,
    .gradient = gradient,
    .variants = {{.name = "gradient against theory", .gradient = gradient_by_theory}},
};

CORPUS_MAIN(&problem)
