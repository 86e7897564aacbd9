// Conditional likelihood of an ARMA(p, q) model with GARCH(1,1) errors: residuals and variances are kept in ring
// windows that are moved along by memmove, coefficients in one flat vector with an offset table. Active: all
// coefficients.
// Source: Hamilton, "Time Series Analysis", chapters 5 and 21.
#include "corpus.h"

enum { P = 3, Q = 2 };
enum field { CONSTANT, AR, MA = AR + P, OMEGA = MA + Q, ALPHA, BETA, SIZE };

static double arma_likelihood(const double *c, const double *series, int count)
{
    double past[P] = {0.0}, errors[Q] = {0.0}, variance = 1.0, last = 0.0, sum = 0.0;
    for (int t = 0; t < count; t++) {
        double predicted = c[CONSTANT];
        for (int i = 0; i < P; i++)
            predicted += c[AR + i] * past[i];
        for (int j = 0; j < Q; j++)
            predicted += c[MA + j] * errors[j];
        double error = series[t] - predicted;
        variance = exp(c[OMEGA]) + c[ALPHA] * last * last + c[BETA] * variance;
        sum -= 0.5 * (log(variance) + error * error / variance);
        memmove(past + 1, past, sizeof(double) * (P - 1));
        memmove(errors + 1, errors, sizeof(double) * (Q - 1));
        past[0] = series[t];
        errors[0] = last = error;
    }
    return sum / count;
}

enum { COUNT = CORPUS_SIZE(300, 10) };

static double point[SIZE] = {0.05, 0.5, -0.2, 0.1, 0.3, 0.15, -1.0, 0.15, 0.6}, series[COUNT];

static void setup(void)
{
    corpus_seed(155);
    double level = 0.0;
    for (int t = 0; t < COUNT; t++) {
        level = 0.6 * level + corpus_uniform(-1.0, 1.0) * (1.0 + 0.5 * sin(0.05 * t));
        series[t] = level;
    }
}

static double value(const double *x)
{
    return arma_likelihood(x, series, COUNT);
}

static double tangent(const double *x, const double *v)
{
    return __enzyme_fwddiff((void *)arma_likelihood, enzyme_dup, x, v, enzyme_const, series, enzyme_const, COUNT);
}

static void gradient(const double *x, double *g)
{
    corpus_zero(g, SIZE);
    __enzyme_autodiff((void *)arma_likelihood, enzyme_dup, x, g, enzyme_const, series, enzyme_const, COUNT);
}

static const struct corpus_problem problem = {
    .name = "arma",
    .size = SIZE,
    .point = point,
    .setup = setup,
    .value = value,
    .tangent = tangent,
    .gradient = gradient,
    .coordinates = CORPUS_ALL,
};

CORPUS_MAIN(&problem)
