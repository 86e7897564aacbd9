// corpus: native
// Code that asks for the rounding mode and the exception flags to be respected: its operations are calls of constrained
// intrinsics, in double and float and between them.
#include "corpus.h"

#include <fenv.h>

#pragma STDC FENV_ACCESS ON

enum { SIZE = CORPUS_SIZE(16, 6) };

static double strict_loss(const double *x, int n)
{
    double sum = 0.0;
    float single = 1.0f;
    fesetround(FE_TONEAREST);
    for (int i = 0; i < n; i++) {
        double y = x[i] * x[i] + x[(i + 1) % n] / (1.0 + x[i]);
        if (i % 2)
            y = sqrt(y) + fma(y, x[i], x[0]);
        single = single * (float)x[i] + (float)y;
        sum += (double)single + sin(y) * exp(-x[i]) + pow(x[i], y);
        sum += fmax(y, x[i] - 9.0) + floor(0.001 * y * y) + (double)(int)(0.001 * y);
    }
    return sum;
}

static double point[SIZE];

static void setup(void)
{
    corpus_seed(7);
    corpus_fill(point, SIZE, 0.3, 0.9);
}

static double value(const double *x)
{
    return strict_loss(x, SIZE);
}

static double tangent(const double *x, const double *v)
{
    return __enzyme_fwddiff((void *)strict_loss, enzyme_dup, x, v, enzyme_const, SIZE);
}

static void gradient(const double *x, double *g)
{
    corpus_zero(g, SIZE);
    __enzyme_autodiff((void *)strict_loss, enzyme_dup, x, g, enzyme_const, SIZE);
}

static const struct corpus_problem problem = {
    .name = "numbers_strict",
    .size = SIZE,
    .point = point,
    .setup = setup,
    .value = value,
    .tangent = tangent,
    .gradient = gradient,
    // Part of it is float.
    .step = 1.0 / 64.0,
    .fd_tolerance = 2e-3,
    .dot_tolerance = 1e-5,
};

CORPUS_MAIN(&problem)
