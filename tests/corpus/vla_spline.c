// Arrays of run-time size on the stack: a natural cubic spline through given points, whose tridiagonal system is kept
// in variable-length arrays inside the evaluating function, and a two-dimensional VLA as parameter.
//
//   loss = sum_q (s(q) - r(q))^2 + sum of the second derivatives squared / 100
//
// Source: de Boor, "A Practical Guide to Splines", chapter IV.
#include "corpus.h"

static void second_derivatives(int n, const double t[n], const double y[n], double m[n])
{
    double upper[n], right[n];
    m[0] = m[n - 1] = 0.0;
    upper[0] = right[0] = 0.0;
    for (int i = 1; i < n - 1; i++) {
        double h0 = t[i] - t[i - 1], h1 = t[i + 1] - t[i];
        double b = 2.0 * (h0 + h1) - h0 * upper[i - 1];
        double r = 6.0 * ((y[i + 1] - y[i]) / h1 - (y[i] - y[i - 1]) / h0);
        upper[i] = h1 / b;
        right[i] = (r - h0 * right[i - 1]) / b;
    }
    for (int i = n - 2; i > 0; i--)
        m[i] = right[i] - upper[i] * m[i + 1];
}

static double evaluate(int n, const double t[n], const double y[n], const double m[n], double q)
{
    int low = 0, high = n - 1;
    while (high - low > 1) {
        int middle = (low + high) / 2;
        if (t[middle] > q)
            high = middle;
        else
            low = middle;
    }
    double h = t[high] - t[low], a = (t[high] - q) / h, b = 1.0 - a;
    return a * y[low] + b * y[high] + ((a * a * a - a) * m[low] + (b * b * b - b) * m[high]) * h * h / 6.0;
}

static double spline_loss(int curves, int n, const double t[n], double y[curves][n], int queries, const double *q,
                          double reference[curves][queries])
{
    double loss = 0.0, table[curves][n];
    for (int c = 0; c < curves; c++)
        second_derivatives(n, t, y[c], table[c]);
    for (int c = 0; c < curves; c++) {
        for (int k = 0; k < queries; k++) {
            double error = evaluate(n, t, y[c], table[c], q[k]) - reference[c][k];
            loss += error * error;
        }
        for (int i = 0; i < n; i++)
            loss += 0.01 * table[c][i] * table[c][i];
    }
    return loss;
}

enum { CURVES = 3, N = CORPUS_SIZE(20, 5), QUERIES = CORPUS_SIZE(50, 4), SIZE = (CURVES + 1) * N };

static double point[SIZE], queries[QUERIES], reference[CURVES][QUERIES];

static void setup(void)
{
    corpus_seed(116);
    for (int i = 0; i < N; i++)
        point[i] = i + corpus_uniform(-0.2, 0.2);
    corpus_fill(point + N, CURVES * N, -1.0, 1.0);
    for (int k = 0; k < QUERIES; k++)
        queries[k] = 0.5 + (N - 2.0) * (k + 0.31) / QUERIES;
    corpus_fill(&reference[0][0], CURVES * QUERIES, -1.0, 1.0);
}

static double loss(const double *x)
{
    return spline_loss(CURVES, N, x, (double(*)[N])(x + N), QUERIES, queries, reference);
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

static const struct corpus_problem problem = {
    .name = "vla_spline",
    .size = SIZE,
    .point = point,
    .setup = setup,
    .value = value,
    .tangent = tangent,
    .gradient = gradient,
    .step = 0x1p-12, // no knot crosses a query
};

CORPUS_MAIN(&problem)
