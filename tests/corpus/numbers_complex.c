// Every function of <complex.h> in double.
// corpus: native
#include "corpus.h"

#include <complex.h>

enum { SIZE = 8 };

static double weigh(double complex z, int n)
{
    return creal(z) * (double)(1.0 + 0.25 * n) + cimag(z) * (double)(0.5 - 0.125 * n);
}

static double functions(const double *x, int n)
{
    double complex z = (double)x[0] + (double)x[1] * I, w = (double)x[2] - (double)x[3] * I;
    double complex all[] = {
        cexp(z),        clog(z),   csqrt(w),  cpow(z, w),         csin(z),
        ccos(w),        ctan(z),   casin(w),  cacos(z),           catan(w),
        csinh(z),       ccosh(w),  ctanh(z),  casinh(w),          cacosh(z),
        catanh(w),      conj(z),   cproj(w),  z * w,              z / w,
        cpow(w, (double)2.0), z / (double)x[4], (double)x[5] / w, (double)x[6] * z + w,     -z,
    };
    double sum = (double)(cabs(z) * carg(w)) + x[7] * x[n - 1];
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
    .name = "numbers_complex",
    .size = SIZE,
    .point = point,
    .setup = setup,
    .value = value,
    .tangent = tangent,
    .gradient = gradient,
};

CORPUS_MAIN(&problem)
