// Second derivatives of least squares where residuals are zero, as at the end of a fit: the adjoints of first order are zero there,
// their derivatives are not. The residuals are chosen between, so that what was not chosen, and is singular, must not count.
//
// value = w . grad loss;   loss = sum_k (k + 1) r_k^2 / 2,   r_k = (a_k - b_k) / (a_k + k / 2), or a root of a_k - b_k, which is not taken
#include "corpus.h"

enum { PAIRS = 6, N = 2 * PAIRS };

static double loss(const double *x, const int *taken)
{
    double sum = 0.0;
    for (int k = 0; k < PAIRS; k++) {
        double a = x[2 * k], b = x[2 * k + 1];
        double quotient = (a - b) / (a + 0.5 * k), root = sqrt(a - b) * a / b;
        double r = taken[k] ? quotient * exp(-a * b) : root;
        double reflected = taken[k] > 1 ? r * b / (1.0 + a) : log(a - b);
        sum += 0.5 * (k + 1) * (r * r + reflected * reflected);
    }
    return sum;
}

static int taken[PAIRS] = {2, 2, 2, 2, 2, 2};
static double point[N];

static void setup(void)
{
    corpus_seed(61);
    for (int k = 0; k < PAIRS; k++) {
        corpus_fill(&point[2 * k], 1, 0.5, 1.5);
        // The last one is not zero.
        point[2 * k + 1] = point[2 * k] - (k == PAIRS - 1 ? 0.3 : 0.0);
    }
}

static double slope(const double *x)
{
    double g[N] = {0.0}, sum = 0.0;
    __enzyme_autodiff((void *)loss, enzyme_dup, x, g, enzyme_const, taken);
    for (int i = 0; i < N; i++)
        sum += (1.0 + 0.25 * i) * g[i];
    return sum;
}

static double tangent(const double *x, const double *v)
{
    return __enzyme_fwddiff((void *)slope, enzyme_dup, x, v);
}

static void gradient(const double *x, double *g)
{
    corpus_zero(g, N);
    __enzyme_autodiff((void *)slope, enzyme_dup, x, g);
}

static const struct corpus_problem problem = {
    .name = "zero_residuals",
    .size = N,
    .point = point,
    .setup = setup,
    .value = slope,
    .tangent = tangent,
    .gradient = gradient,
    .coordinates = CORPUS_ALL,
};

CORPUS_MAIN(&problem)
