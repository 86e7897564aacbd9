// Extended precision: a continued fraction, a recurrence in place over a long double array and the long double functions of
// <math.h>; the arguments are double, the work is long double, the result is rounded once.
#include "corpus.h"

static long double continued_fraction(const long double *a, int n)
{
    long double value = a[n - 1];
    for (int i = n - 2; i >= 0; i--)
        value = a[i] + 1.0L / value;
    return value;
}

static long double functions(const long double *x)
{
    int exponent;
    long double sum = sinl(x[0]) * cosl(x[1]) + tanl(x[2]) + asinl(0.1L * x[0]) + acosl(0.1L * x[1]) + atanl(x[2]);
    sum += sinhl(x[0]) + coshl(x[1]) + tanhl(x[2]) + asinhl(x[0]) + acoshl(1.0L + x[1]) + atanhl(0.1L * x[2]);
    sum += expl(x[0]) + exp2l(x[1]) + expm1l(x[2]) + logl(x[0]) + log2l(x[1]) + log10l(x[2]) + log1pl(x[0]);
    sum += sqrtl(x[0]) + cbrtl(x[1]) + powl(x[1], x[2]) + hypotl(x[0], x[2]) + atan2l(x[0], x[1]) + fmal(x[0], x[1], x[2]);
    sum += erfl(x[0]) + erfcl(x[1]) + lgammal(x[2]) + tgammal(x[0]) + fabsl(-x[1]) + copysignl(x[2], -1.0L);
    sum += fmaxl(x[0], 0.5L * x[0]) + fminl(x[1], 3.0L * x[1]) + fdiml(x[2], 0.1L) + fmodl(x[0], 0.25L);
    sum += floorl(x[0]) + ceill(x[1]) + truncl(x[2]) + ldexpl(x[0], 2) + frexpl(x[1], &exponent);
    return sum;
}

static double extended_loss(const double *x, int n)
{
    long double state[64], sum = 0.0L;
    for (int i = 0; i < n; i++)
        state[i] = 1.0L + (long double)x[i] * x[i];
    for (int sweep = 0; sweep < 3; sweep++)
        for (int i = 1; i < n; i++)
            state[i] = 0.5L * state[i] + 0.5L * sqrtl(state[i - 1] * state[i]);
    for (int i = 0; i + 3 <= n; i += 3)
        sum += functions(state + i) / (i + 1);
    return (double)(sum + continued_fraction(state, n));
}

static long double rational(long double x, long double y)
{
    return x * x * y + sqrtl(y) / x;
}

enum { SIZE = CORPUS_SIZE(24, 6) };

CORPUS_MARKER(long double, __enzyme_fwddiff_long)
CORPUS_MARKER(long double, __enzyme_autodiff_long)

static double point[SIZE];

static void setup(void)
{
    corpus_seed(29);
    corpus_fill(point, SIZE, 0.3, 0.8);
}

static double value(const double *x)
{
    return extended_loss(x, SIZE);
}

static double tangent(const double *x, const double *v)
{
    return __enzyme_fwddiff((void *)extended_loss, enzyme_dup, x, v, enzyme_const, SIZE);
}

static void gradient(const double *x, double *g)
{
    corpus_zero(g, SIZE);
    __enzyme_autodiff((void *)extended_loss, enzyme_dup, x, g, enzyme_const, SIZE);
}

// Long double arguments and results of the marker itself.
static int extra(void)
{
    long double x = 1.25L, y = 1.5L, step = 0x1p-20L;
    long double by_reverse = __enzyme_autodiff_long((void *)rational, enzyme_out, x, enzyme_const, y);
    long double by_forward = __enzyme_fwddiff_long((void *)rational, enzyme_dup, x, 1.0L, enzyme_const, y);
    long double difference = (rational(x + step, y) - rational(x - step, y)) / (2.0L * step);
    // h^2 = 9e-13 and eps / h = 1e-13 in extended precision.
    return corpus_check("longdouble", "scalar by reverse mode", (double)fabsl(by_reverse - difference), 1e-11) +
           corpus_check("longdouble", "scalar by forward mode", (double)fabsl(by_forward - difference), 1e-11);
}

static const struct corpus_problem problem = {
    .name = "longdouble",
    .size = SIZE,
    .point = point,
    .setup = setup,
    .value = value,
    .tangent = tangent,
    .gradient = gradient,
    .extra = extra,
    .step = 1.0 / 1024.0, // fmod jumps where its argument is a multiple of 1/4
};

CORPUS_MAIN(&problem)
