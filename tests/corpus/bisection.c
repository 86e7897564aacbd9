// Bisection with an early exit, then one step of inverse linear interpolation on the last bracket: for each i the root
// of exp(x) - a_i - x^2 / b_i in [low, high]. The path of the bisection depends on active data and is locally constant; the
// result depends on the ends of the bracket and, through the last step, on the parameters. Loss = sum w_i root_i.
// Source: Press et al., "Numerical Recipes", section 9.1.
#include "corpus.h"

static double residual(double x, double a, double b)
{
    return exp(x) - a - x * x / b;
}

static double bisect(double low, double high, double a, double b, double width)
{
    double at_low = residual(low, a, b), at_high = residual(high, a, b);
    if (at_low == 0.0)
        return low;
    if (at_low > 0.0 || at_high < 0.0)
        return -1.0;
    while (high - low > width) {
        double middle = 0.5 * (low + high), at_middle = residual(middle, a, b);
        if (at_middle == 0.0)
            return middle;
        if (at_middle < 0.0) {
            low = middle;
            at_low = at_middle;
        } else {
            high = middle;
            at_high = at_middle;
        }
    }
    return low - at_low * (high - low) / (at_high - at_low);
}

static double bisection_loss(const double *a, const double *b, double low, double high, const double *weights, int count,
                             double width)
{
    double loss = 0.0;
    for (int i = 0; i < count; i++) {
        double root = bisect(low, high, a[i], b[i], width);
        loss += weights[i] * root * root;
    }
    return loss;
}

enum { COUNT = CORPUS_SIZE(100, 5), SIZE = 2 * COUNT + 2 };

struct bracket {
    double low, high;
};

CORPUS_MARKER(struct bracket, __enzyme_autodiff_bracket)

static const double width = 0.02;
static double point[SIZE], weights[COUNT];

static void setup(void)
{
    corpus_seed(16);
    corpus_fill(point, COUNT, 1.2, 6.0);
    corpus_fill(point + COUNT, COUNT, 3.0, 9.0);
    corpus_fill(weights, COUNT, 0.5, 1.5);
    point[0] = 0.5; // no change of sign: the early return
    point[2 * COUNT] = 0.0;
    point[2 * COUNT + 1] = 2.7;
}

static double value(const double *x)
{
    return bisection_loss(x, x + COUNT, x[2 * COUNT], x[2 * COUNT + 1], weights, COUNT, width);
}

static double tangent(const double *x, const double *v)
{
    return __enzyme_fwddiff((void *)bisection_loss, enzyme_dup, x, v, enzyme_dup, x + COUNT, v + COUNT, enzyme_dup,
                            x[2 * COUNT], v[2 * COUNT], enzyme_dup, x[2 * COUNT + 1], v[2 * COUNT + 1], enzyme_const,
                            weights, enzyme_const, COUNT, enzyme_const, width);
}

static void gradient(const double *x, double *g)
{
    corpus_zero(g, SIZE);
    struct bracket ends = __enzyme_autodiff_bracket(
        (void *)bisection_loss, enzyme_dup, x, g, enzyme_dup, x + COUNT, g + COUNT, enzyme_out, x[2 * COUNT], enzyme_out,
        x[2 * COUNT + 1], enzyme_const, weights, enzyme_const, COUNT, enzyme_const, width);
    g[2 * COUNT] = ends.low;
    g[2 * COUNT + 1] = ends.high;
}

static void gradient_high(const double *x, double *g)
{
    g[2 * COUNT + 1] =
        __enzyme_autodiff((void *)bisection_loss, enzyme_const, x, enzyme_const, x + COUNT, enzyme_const, x[2 * COUNT],
                          enzyme_out, x[2 * COUNT + 1], enzyme_const, weights, COUNT, enzyme_const, width);
}

static const struct corpus_problem problem = {
    .name = "bisection",
    .size = SIZE,
    .point = point,
    .setup = setup,
    .value = value,
    .tangent = tangent,
    .gradient = gradient,
    .variants = {{.name = "gradient of the upper end alone", .gradient = gradient_high, .begin = 2 * COUNT + 1}},
    .step = 0x1p-17,      // small enough that no bracket changes
    .fd_tolerance = 1e-6, // the small step costs digits: eps / step
};

CORPUS_MAIN(&problem)
