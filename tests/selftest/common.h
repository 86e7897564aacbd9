// f(x) = sum_i i sin(x_i) x_{i+1} with handwritten derivatives, to try the harness itself on.
#include "../corpus/corpus.h"

enum { SIZE = 6 };

static const double point[SIZE] = {0.3, -0.8, 1.1, 0.6, -0.4, 0.9};

static double value(const double *x)
{
    double sum = 0.0;
    for (int i = 0; i + 1 < SIZE; i++)
        sum += (i + 1) * sin(x[i]) * x[i + 1];
    return sum;
}

CORPUS_UNUSED static double right_tangent(const double *x, const double *v)
{
    double sum = 0.0;
    for (int i = 0; i + 1 < SIZE; i++)
        sum += (i + 1) * (cos(x[i]) * v[i] * x[i + 1] + sin(x[i]) * v[i + 1]);
    return sum;
}

CORPUS_UNUSED static void right_gradient(const double *x, double *g)
{
    corpus_zero(g, SIZE);
    for (int i = 0; i + 1 < SIZE; i++) {
        g[i] += (i + 1) * cos(x[i]) * x[i + 1];
        g[i + 1] += (i + 1) * sin(x[i]);
    }
}
