// Least squares by Householder reflections, in place in a column-major array, with the reflectors' scales in a second
// one.
//
//   loss = |x|^2 / 2 + residual norm, x = argmin |A x - b|. Active: A and b.
//
// Source: Golub, Van Loan, "Matrix Computations", algorithms 5.1.1 and 5.3.2.
#include "corpus.h"

#define A(i, j) a[(j) * rows + (i)]

static void factor(double *a, int rows, int columns, double *beta)
{
    for (int j = 0; j < columns; j++) {
        double sigma = 0.0;
        for (int i = j + 1; i < rows; i++)
            sigma += A(i, j) * A(i, j);
        if (sigma == 0.0) {
            beta[j] = 0.0;
            continue;
        }
        double alpha = A(j, j), norm = sqrt(alpha * alpha + sigma);
        double v = alpha <= 0.0 ? alpha - norm : -sigma / (alpha + norm);
        beta[j] = 2.0 * v * v / (sigma + v * v);
        A(j, j) = norm;
        for (int i = j + 1; i < rows; i++)
            A(i, j) /= v;
        for (int k = j + 1; k < columns; k++) {
            double s = A(j, k);
            for (int i = j + 1; i < rows; i++)
                s += A(i, j) * A(i, k);
            s *= beta[j];
            A(j, k) -= s;
            for (int i = j + 1; i < rows; i++)
                A(i, k) -= s * A(i, j);
        }
    }
}

static void apply_transpose(const double *a, int rows, int columns, const double *beta, double *b)
{
    for (int j = 0; j < columns; j++) {
        double s = b[j];
        for (int i = j + 1; i < rows; i++)
            s += A(i, j) * b[i];
        s *= beta[j];
        b[j] -= s;
        for (int i = j + 1; i < rows; i++)
            b[i] -= s * A(i, j);
    }
}

static double least_squares(double *a, double *b, int rows, int columns, double *beta)
{
    factor(a, rows, columns, beta);
    apply_transpose(a, rows, columns, beta, b);
    double loss = 0.0, residual = 0.0;
    for (int j = columns - 1; j >= 0; j--) {
        for (int k = j + 1; k < columns; k++)
            b[j] -= A(j, k) * b[k];
        b[j] /= A(j, j);
        loss += 0.5 * b[j] * b[j];
    }
    for (int i = columns; i < rows; i++)
        residual += b[i] * b[i];
    return loss + sqrt(residual);
}

enum { ROWS = CORPUS_SIZE(24, 5), COLUMNS = CORPUS_SIZE(8, 2), SIZE = ROWS * (COLUMNS + 1) };

static double point[SIZE];

static void setup(void)
{
    corpus_seed(140);
    corpus_fill(point, SIZE, -1.0, 1.0);
}

static double loss(const double *x)
{
    double a[ROWS * COLUMNS], b[ROWS], beta[COLUMNS];
    memcpy(a, x, sizeof(a));
    memcpy(b, x + ROWS * COLUMNS, sizeof(b));
    return least_squares(a, b, ROWS, COLUMNS, beta);
}

static double value(const double *x)
{
    return loss(x);
}

static double tangent(const double *x, const double *v)
{
    return __enzyme_fwddiff((void *)loss, enzyme_dup, x, v);
}

static void gradient(const double *x, double *g)
{
    corpus_zero(g, SIZE);
    __enzyme_autodiff((void *)loss, enzyme_dup, x, g);
}

static void gradient_plain(const double *x, double *g)
{
    corpus_zero(g, SIZE);
    __enzyme_autodiff((void *)loss, x, g);
}

static const struct corpus_problem problem = {
    .name = "householder_qr",
    .size = SIZE,
    .point = point,
    .setup = setup,
    .value = value,
    .tangent = tangent,
    .gradient = gradient,
    .variants = {{.name = "gradient without annotations", .gradient = gradient_plain}},
};

CORPUS_MAIN(&problem)
