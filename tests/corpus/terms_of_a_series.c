// A power series cut off behind a number of terms, of which each derivative loses one at its end: __enzyme_iter(n, k) has k more
// in a derivative than in the function, 2k in one of second order, so that all orders are cut off behind the same power.
//
// loss = sin x_0 x_1 by its series, and a product of Bessel functions J_0, which has its terms in a callee.
// Source: Abramowitz, Stegun, Handbook of Mathematical Functions, 4.3.65 and 9.1.12.
#include "corpus.h"

#include <stdint.h>

enum { SIZE = 4 };

extern uint64_t __enzyme_iter(uint64_t terms, uint64_t more);
extern int32_t __enzyme_iter_narrow(int32_t terms, int32_t more);

static uint64_t counted;

// The powers of x below `terms`.
static double sine(double x, uint64_t terms)
{
    double term = x, sum = 0.0;
    for (uint64_t i = 1; i < terms; i += 2) {
        sum += term;
        term *= -x * x / (double)((i + 1) * (i + 2));
    }
    return sum;
}

static double few(double x)
{
    return sine(x, __enzyme_iter(4, 2));
}

static double few_first(double x)
{
    return __enzyme_autodiff((void *)few, x);
}

__attribute__((noinline)) static double bessel(double x)
{
    double term = 1.0, sum = 0.0;
    int32_t terms = __enzyme_iter_narrow(12, 1);
    for (int32_t i = 1; i <= terms; i++) {
        sum += term;
        term *= -x * x / (4.0 * i * i);
    }
    counted = (uint64_t)terms;
    return sum;
}

static double loss(const double *x)
{
    double series = sine(x[0] * x[1], __enzyme_iter(24, 2));
    return series + bessel(x[2]) * bessel(x[3] + x[0]);
}

static double point[SIZE];

static void setup(void)
{
    corpus_seed(141);
    corpus_fill(point, SIZE, 0.2, 0.9);
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

// The series of x - x^3/6: as many powers in the first derivative as x - x^3/6 + x^5/120 leaves, two more in the second.
static int extra(void)
{
    double x = 0.8, first = 1.0 - x * x / 2.0 + x * x * x * x / 24.0;
    double second = -x + x * x * x / 6.0 - x * x * x * x * x / 120.0;
    int bad = corpus_check("terms", "of the function", fabs(few(x) - (x - x * x * x / 6.0)), 1e-15);
    // Rounding of sums of numbers of about one.
    bad |= corpus_check("terms", "of the first derivative", fabs(few_first(x) - first), 1e-15);
    bad |= corpus_check("terms", "of the second derivative", fabs(__enzyme_autodiff((void *)few_first, x) - second), 1e-15);
    double g[SIZE];
    loss(point);
    const uint64_t before = counted;
    gradient(point, g);
    return bad | corpus_check("terms", "in a callee", fabs((double)counted - (double)before - 1.0), 0.0);
}

static const struct corpus_problem problem = {
    .name = "terms_of_a_series",
    .size = SIZE,
    .point = point,
    .setup = setup,
    .value = value,
    .tangent = tangent,
    .gradient = gradient,
    .extra = extra,
};

CORPUS_MAIN(&problem)
