// A least-squares fit of y = a exp(-b t) + c whose driver wants the loss beside its gradient, in each of the ways in which a
// call says so: the value before the adjoints of scalars, before nothing else, beside the tangent, or in memory whose shadow
// is the seed, the function's own result being a number of steps that has no derivative.
// Source: Nocedal, Wright, "Numerical Optimization", section 10.2.
#include "corpus.h"

enum { POINTS = CORPUS_SIZE(30, 4), SIZE = 3 };

struct value_and_three {
    double value, a, b, c;
};
struct value_and_one {
    double value, derivative;
};
CORPUS_MARKER(struct value_and_three, __enzyme_autodiff_three)
CORPUS_MARKER(struct value_and_one, __enzyme_fwddiff_both)
CORPUS_MARKER(double, __enzyme_autodiff_value)

static double times[POINTS], measured[POINTS], point[SIZE];

static double residual(const double *p, double time, double wanted)
{
    return p[0] * exp(-p[1] * time) + p[2] - wanted;
}

static double fit(const double *p, const double *time, const double *wanted, int n)
{
    double loss = 0.0;
    for (int i = 0; i < n; i++)
        loss += residual(p, time[i], wanted[i]) * residual(p, time[i], wanted[i]);
    return loss / n;
}

static double fit_of_scalars(double a, double b, double c, const double *time, const double *wanted, int n)
{
    double p[3] = {a, b, c};
    return fit(p, time, wanted, n);
}

// The loss goes to memory; the result is how many residuals are large.
static double count_large(const double *p, const double *time, const double *wanted, int n, double *loss)
{
    double large = 0.0;
    for (int i = 0; i < n; i++)
        if (fabs(residual(p, time[i], wanted[i])) > 0.1)
            large += 1.0 + residual(p, time[i], wanted[i]);
    *loss = fit(p, time, wanted, n);
    return large;
}

// 0 times infinity at p = 0, where the derivative of the root is infinite and nobody asks for it.
static double root_of_nothing(const double *p)
{
    return 0.0 * sqrt(p[0]) + p[1];
}

static void setup(void)
{
    corpus_seed(82);
    for (int i = 0; i < POINTS; i++) {
        times[i] = 0.1 * i;
        measured[i] = 1.5 * exp(-0.7 * times[i]) + 0.2 + corpus_uniform(-0.05, 0.05);
    }
    corpus_fill(point, SIZE, 0.4, 1.2);
}

static double value(const double *x)
{
    return 5.0 * fit(x, times, measured, POINTS);
}

// What a call returned as the value is the value.
static void expect_value(double got, double wanted, double *spoilt)
{
    if (fabs(got - wanted) > 1e-14 * (1.0 + fabs(wanted))) // one more rounding than in the primal at most
        *spoilt = NAN;
}

static double tangent(const double *x, const double *v)
{
    double wanted = fit(x, times, measured, POINTS), spoilt = 0.0;
    struct value_and_one both =
        __enzyme_fwddiff_both((void *)fit, enzyme_primal_return, enzyme_dup, x, v, enzyme_const, times, enzyme_const,
                              measured, enzyme_const, POINTS);
    struct value_and_one dup = __enzyme_fwddiff_both((void *)fit, enzyme_dup_return, enzyme_dup, x, v, enzyme_const,
                                                     times, enzyme_const, measured, enzyme_const, POINTS);
    double alone = __enzyme_fwddiff((void *)fit, enzyme_noret, enzyme_dup, x, v, enzyme_const, times, enzyme_const,
                                    measured, enzyme_const, POINTS);
    expect_value(both.value, wanted, &spoilt);
    expect_value(dup.value, wanted, &spoilt);
    return both.derivative + 2.0 * dup.derivative + 2.0 * alone + spoilt;
}

static void gradient(const double *x, double *g)
{
    double wanted = fit(x, times, measured, POINTS);
    corpus_zero(g, SIZE);

    struct value_and_three all =
        __enzyme_autodiff_three((void *)fit_of_scalars, enzyme_primal_return, enzyme_out, x[0], enzyme_out, x[1],
                                enzyme_out, x[2], enzyme_const, times, enzyme_const, measured, enzyme_const, POINTS);
    expect_value(all.value, wanted, g);
    g[0] += all.a;
    g[1] += all.b;
    g[2] += all.c;

    double got = __enzyme_autodiff_value((void *)fit, enzyme_not_overwritten, enzyme_dup, x, g, enzyme_const, times,
                                         enzyme_const, measured, enzyme_const, POINTS, enzyme_primal_return);
    expect_value(got, wanted, g);
    __enzyme_autodiff_void((void *)fit, enzyme_active_return, enzyme_noret, enzyme_dup, x,
                              g, enzyme_const, times, enzyme_const, measured, enzyme_const, POINTS);

    double loss = 0.0, seed = 2.0;
    double large = __enzyme_autodiff_value((void *)count_large, enzyme_const_return, enzyme_primal_return, enzyme_dup,
                                           x, g, enzyme_const, times, enzyme_const, measured, enzyme_const, POINTS,
                                           enzyme_dup, &loss, &seed);
    double again = 0.0;
    expect_value(large, count_large(x, times, measured, POINTS, &again), g);
    expect_value(loss, wanted, g);

    double origin[2] = {0.0, x[1]}, slopes[2] = {0.0, 0.0};
    __enzyme_autodiff_void((void *)root_of_nothing, enzyme_strong_zero, enzyme_dup, origin, slopes);
    expect_value(slopes[0], 0.0, g);
    expect_value(slopes[1], 1.0, g);
}

static const struct corpus_problem problem = {
    .name = "value_and_gradient",
    .size = SIZE,
    .point = point,
    .setup = setup,
    .value = value,
    .tangent = tangent,
    .gradient = gradient,
};

CORPUS_MAIN(&problem)
