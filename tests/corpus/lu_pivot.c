// Solves A x = b by elimination with partial pivoting; rows are exchanged in memory, so the path taken depends on the
// active data. Loss = sum w_i x_i + log |det A|.
// Source: Golub, Van Loan, "Matrix Computations", section 3.4.
#include "corpus.h"

static int find_pivot(const double *a, int n, int column)
{
    int pivot = column;
    for (int i = column + 1; i < n; i++)
        if (fabs(a[i * n + column]) > fabs(a[pivot * n + column]))
            pivot = i;
    return pivot;
}

static void swap_rows(double *first, double *second, int count)
{
    for (int j = 0; j < count; j++) {
        double kept = first[j];
        first[j] = second[j];
        second[j] = kept;
    }
}

// Returns false when A is singular.
static int solve(double *a, double *b, int n)
{
    for (int k = 0; k < n; k++) {
        int pivot = find_pivot(a, n, k);
        if (a[pivot * n + k] == 0.0)
            return 0;
        if (pivot != k) {
            swap_rows(a + pivot * n, a + k * n, n);
            swap_rows(b + pivot, b + k, 1);
        }
        for (int i = k + 1; i < n; i++) {
            double factor = a[i * n + k] / a[k * n + k];
            a[i * n + k] = factor;
            for (int j = k + 1; j < n; j++)
                a[i * n + j] -= factor * a[k * n + j];
            b[i] -= factor * b[k];
        }
    }
    for (int i = n - 1; i >= 0; i--) {
        for (int j = i + 1; j < n; j++)
            b[i] -= a[i * n + j] * b[j];
        b[i] /= a[i * n + i];
    }
    return 1;
}

static double pivoted_loss(double *a, double *b, const double *weights, int n)
{
    if (!solve(a, b, n))
        return INFINITY;
    double loss = 0.0;
    for (int i = 0; i < n; i++)
        loss += weights[i] * b[i] + log(fabs(a[i * n + i]));
    return loss;
}

enum { N = CORPUS_SIZE(30, 5), SIZE = N * N + N };

static double point[SIZE], weights[N], work[SIZE], shadow[SIZE];

// A permutation of a dominant matrix: pivoting has work to do, and no two candidates are close to a tie.
static void setup(void)
{
    corpus_seed(12);
    corpus_fill(point, SIZE, -1.0, 1.0);
    corpus_fill(weights, N, -1.0, 1.0);
    for (int i = 0; i < N; i++)
        point[i * N + (7 * i + 1) % N] += (i % 3 == 0 ? 2.0 : 4.0);
}

static double value(const double *x)
{
    corpus_copy(work, x, SIZE);
    return pivoted_loss(work, work + N * N, weights, N);
}

static double tangent(const double *x, const double *v)
{
    corpus_copy(work, x, SIZE);
    corpus_copy(shadow, v, SIZE);
    return __enzyme_fwddiff((void *)pivoted_loss, enzyme_dup, work, shadow, enzyme_dup, work + N * N, shadow + N * N,
                            enzyme_const, weights, enzyme_const, N);
}

static void gradient(const double *x, double *g)
{
    corpus_copy(work, x, SIZE);
    corpus_zero(g, SIZE);
    __enzyme_autodiff((void *)pivoted_loss, enzyme_dup, work, g, enzyme_dup, work + N * N, g + N * N, enzyme_const,
                      weights, enzyme_const, N);
}

// The elimination by itself, seeded with the adjoint of the solution, and the determinant by itself.
static double log_determinant(double *a, double *b, int n)
{
    solve(a, b, n);
    double sum = 0.0;
    for (int i = 0; i < n; i++)
        sum += log(fabs(a[i * n + i]));
    return sum;
}

static void gradient_in_two_parts(const double *x, double *g)
{
    double discarded[N];
    corpus_zero(g, SIZE);
    corpus_copy(g + N * N, weights, N);
    corpus_copy(work, x, SIZE);
    __enzyme_autodiff_void((void *)solve, work, g, work + N * N, g + N * N, N);
    corpus_zero(discarded, N);
    corpus_copy(work, x, SIZE);
    corpus_copy(shadow, g, N * N);
    corpus_zero(g, N * N);
    __enzyme_autodiff((void *)log_determinant, work, g, work + N * N, discarded, N);
    for (int i = 0; i < N * N; i++)
        g[i] += shadow[i];
}

static const struct corpus_problem problem = {
    .name = "lu_pivot",
    .size = SIZE,
    .point = point,
    .setup = setup,
    .value = value,
    .tangent = tangent,
    .gradient = gradient,
    .variants = {{.name = "gradient in two parts", .gradient = gradient_in_two_parts}},
    .step = 0x1p-16, // small enough that no step changes which row is the pivot
    .fd_tolerance = 1e-6, // the small step costs digits: eps / step
};

CORPUS_MAIN(&problem)
