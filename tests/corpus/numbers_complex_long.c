// Every function of <complex.h> in long double.
// corpus: native
#include "corpus.h"

#include <complex.h>

enum { SIZE = 8 };

static long double weigh(long double complex z, int n)
{
    return creall(z) * (long double)(1.0 + 0.25 * n) + cimagl(z) * (long double)(0.5 - 0.125 * n);
}

static double functions(const double *x, int n)
{
    long double complex z = (long double)x[0] + (long double)x[1] * I, w = (long double)x[2] - (long double)x[3] * I;
    long double complex all[] = {
        cexpl(z),        clogl(z),   csqrtl(w),  cpowl(z, w),         csinl(z),
        ccosl(w),        ctanl(z),   casinl(w),  cacosl(z),           catanl(w),
        csinhl(z),       ccoshl(w),  ctanhl(z),  casinhl(w),          cacoshl(z),
        catanhl(w),      conjl(z),   cprojl(w),  z * w,              z / w,
        cpowl(w, (long double)2.0), z / (long double)x[4], (long double)x[5] / w, (long double)x[6] * z + w,     -z,
    };
    double sum = (double)(cabsl(z) * cargl(w)) + x[7] * x[n - 1];
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
    .name = "numbers_complex_long",
    .size = SIZE,
    .point = point,
    .setup = setup,
    .value = value,
    .tangent = tangent,
    .gradient = gradient,
};

CORPUS_MAIN(&problem)
