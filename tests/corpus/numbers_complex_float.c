// Every function of <complex.h> in float.
// corpus: native
#include "corpus.h"

#include <complex.h>

enum { SIZE = 8 };

static float weigh(float complex z, int n)
{
    return crealf(z) * (float)(1.0 + 0.25 * n) + cimagf(z) * (float)(0.5 - 0.125 * n);
}

static double functions(const double *x, int n)
{
    float complex z = (float)x[0] + (float)x[1] * I, w = (float)x[2] - (float)x[3] * I;
    float complex all[] = {
        cexpf(z),        clogf(z),   csqrtf(w),  cpowf(z, w),         csinf(z),
        ccosf(w),        ctanf(z),   casinf(w),  cacosf(z),           catanf(w),
        csinhf(z),       ccoshf(w),  ctanhf(z),  casinhf(w),          cacoshf(z),
        catanhf(w),      conjf(z),   cprojf(w),  z * w,              z / w,
        cpowf(w, (float)2.0), z / (float)x[4], (float)x[5] / w, (float)x[6] * z + w,     -z,
    };
    double sum = (double)(cabsf(z) * cargf(w)) + x[7] * x[n - 1];
    for (int k = 0; k < (int)CORPUS_COUNT(all); k++)
        sum += (double)weigh(all[k], k);
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
    return functions(x, SIZE);
}

static double tangent(const double *x, const double *v)
{
    return __enzyme_fwddiff((void *)functions, enzyme_dup, x, v, enzyme_const, SIZE);
}

static void gradient(const double *x, double *g)
{
    corpus_zero(g, SIZE);
    __enzyme_autodiff((void *)functions, enzyme_dup, x, g, enzyme_const, SIZE);
}

static const struct corpus_problem problem = {
    .name = "numbers_complex_float",
    .size = SIZE,
    .point = point,
    .setup = setup,
    .value = value,
    .tangent = tangent,
    .gradient = gradient,
    .step = 0.25, // the values carry seven digits
    .fd_tolerance = 2e-3,
    .dot_tolerance = 1e-4,
};

CORPUS_MAIN(&problem)
