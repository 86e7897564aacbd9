// Matrices as arrays of row pointers, as in many old numerical codes: allocated row by row, rows exchanged by
// exchanging pointers (partial pivoting), indexed from 0. The inverse is by Gauss-Jordan elimination.
//
//   loss = trace(A^{-1} B) + log |det A|
//
// Source: Press, Teukolsky, Vetterling, Flannery, "Numerical Recipes", section 2.1 (algorithm only).
#include "corpus.h"

static double **matrix_new(int rows, int columns)
{
    double **m = malloc((size_t)rows * sizeof(double *));
    for (int i = 0; i < rows; i++)
        m[i] = calloc((size_t)columns, sizeof(double));
    return m;
}

static void matrix_free(double **m, int rows)
{
    for (int i = 0; i < rows; i++)
        free(m[i]);
    free(m);
}

static double invert(double **a, double **inverse, int n)
{
    double determinant = 1.0;
    for (int i = 0; i < n; i++)
        inverse[i][i] = 1.0;
    for (int k = 0; k < n; k++) {
        int pivot = k;
        for (int i = k + 1; i < n; i++)
            if (fabs(a[i][k]) > fabs(a[pivot][k]))
                pivot = i;
        if (pivot != k) {
            double *row = a[k];
            a[k] = a[pivot];
            a[pivot] = row;
            row = inverse[k];
            inverse[k] = inverse[pivot];
            inverse[pivot] = row;
            determinant = -determinant;
        }
        double scale = 1.0 / a[k][k];
        determinant *= a[k][k];
        for (int j = 0; j < n; j++) {
            a[k][j] *= scale;
            inverse[k][j] *= scale;
        }
        for (int i = 0; i < n; i++) {
            double factor = a[i][k];
            if (i == k)
                continue;
            for (int j = 0; j < n; j++) {
                a[i][j] -= factor * a[k][j];
                inverse[i][j] -= factor * inverse[k][j];
            }
        }
    }
    return determinant;
}

static double inverse_loss(const double *values, const double *weights, int n)
{
    double **a = matrix_new(n, n), **inverse = matrix_new(n, n);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            a[i][j] = values[i * n + j];
    double loss = log(fabs(invert(a, inverse, n)));
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            loss += inverse[i][j] * weights[j * n + i];
    matrix_free(inverse, n);
    matrix_free(a, n);
    return loss;
}

enum { N = CORPUS_SIZE(14, 3), SIZE = N * N };

static double point[SIZE], weights[SIZE];

static void setup(void)
{
    corpus_seed(107);
    corpus_fill(point, SIZE, -1.0, 1.0);
    corpus_fill(weights, SIZE, -1.0, 1.0);
    for (int i = 0; i < N; i++)
        point[i * N + (i * 5 + 2) % N] += 4.0;
}

static double value(const double *x)
{
    return inverse_loss(x, weights, N);
}

static double tangent(const double *x, const double *v)
{
    return __enzyme_fwddiff((void *)inverse_loss, enzyme_dup, x, v, enzyme_const, weights, enzyme_const, N);
}

static void gradient(const double *x, double *g)
{
    corpus_zero(g, SIZE);
    __enzyme_autodiff((void *)inverse_loss, enzyme_dup, x, g, enzyme_const, weights, enzyme_const, N);
}

static const struct corpus_problem problem = {
    .name = "row_matrix",
    .size = SIZE,
    .point = point,
    .setup = setup,
    .value = value,
    .tangent = tangent,
    .gradient = gradient,
    .step = 0x1p-10, // the pivots stay the same
};

CORPUS_MAIN(&problem)
