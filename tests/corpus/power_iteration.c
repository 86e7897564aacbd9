// The dominant eigenvalue of a Leslie matrix (growth rate of a population by ages) by power iteration until the
// Rayleigh quotient settles. Loss = growth rate + share of juveniles in the stable population. Active: fecundities
// and survivals.
// Source: Caswell, "Matrix Population Models", sections 4.5 and 9.1.
#include "corpus.h"

static double normalise(double *v, int n)
{
    double sum = 0.0;
    for (int i = 0; i < n; i++)
        sum += v[i];
    for (int i = 0; i < n; i++)
        v[i] /= sum;
    return sum;
}

static void project(const double *fecundity, const double *survival, const double *from, double *to, int n)
{
    to[0] = 0.0;
    for (int i = 0; i < n; i++)
        to[0] += fecundity[i] * from[i];
    for (int i = 1; i < n; i++)
        to[i] = survival[i - 1] * from[i - 1];
    to[n - 1] += survival[n - 1] * from[n - 1];
}

static double population_loss(const double *fecundity, const double *survival, int n, double tolerance)
{
    double a[32], b[32], *now = a, *next = b, rate = 1.0, previous;
    int iterations = 0;
    for (int i = 0; i < n; i++)
        now[i] = 1.0 / n;
    do {
        previous = rate;
        project(fecundity, survival, now, next, n);
        rate = normalise(next, n);
        double *t = now;
        now = next;
        next = t;
    } while (fabs(rate - previous) > tolerance && ++iterations < 2000);
    double juveniles = 0.0;
    for (int i = 0; i < n / 2; i++)
        juveniles += now[i];
    return log(rate) + juveniles * juveniles;
}

enum { N = CORPUS_SIZE(8, 3), SIZE = 2 * N };

static double point[SIZE];

static void setup(void)
{
    corpus_seed(144);
    corpus_fill(point, N, 0.2, 0.9);
    corpus_fill(point + N, N, 0.5, 0.9);
}

static double value(const double *x)
{
    return population_loss(x, x + N, N, 1e-15);
}

static double tangent(const double *x, const double *v)
{
    return __enzyme_fwddiff((void *)population_loss, enzyme_dup, x, v, enzyme_dup, x + N, v + N, enzyme_const, N,
                            enzyme_const, 1e-15);
}

static void gradient(const double *x, double *g)
{
    corpus_zero(g, SIZE);
    __enzyme_autodiff((void *)population_loss, enzyme_dup, x, g, enzyme_dup, x + N, g + N, enzyme_const, N,
                      enzyme_const, 1e-15);
}

static const struct corpus_problem problem = {
    .name = "power_iteration",
    .size = SIZE,
    .point = point,
    .setup = setup,
    .value = value,
    .tangent = tangent,
    .gradient = gradient,
};

CORPUS_MAIN(&problem)
