// A calibration with things beside it that are not to be differentiated: a table of nominal values that is filled from the
// parameters, a counter of evaluations, a clamp whose slope is to be ignored; declared inactive by registration globals and by annotations.
#include "corpus.h"

enum { SIZE = 3, COUNT = 5 };

static double point[SIZE];
static double nominal[COUNT];
__attribute__((annotate("enzyme_inactive"))) static double calls;
void *__enzyme_inactive_global_nominal = (void *)nominal;

__attribute__((annotate("enzyme_inactive"), noinline)) static double limited(double x)
{
    return x > 0.0 ? x : 0.1;
}

// Fills the table; what it holds afterwards is taken as constant.
static void fill(const double *x)
{
    calls += x[0];
    for (int i = 0; i < COUNT; i++)
        nominal[i] = 1.0 + 0.1 * i;
}

static double value(const double *x)
{
    fill(x);
    double sum = 0.0;
    for (int i = 0; i < COUNT; i++) {
        double model = x[0] * exp(-x[1] * i) + x[2];
        sum += (model - nominal[i]) * (model - nominal[i]);
    }
    return sum;
}

static double times_limited(double x)
{
    return limited(x) * x;
}

static void setup(void)
{
    corpus_seed(66);
    corpus_fill(point, SIZE, 0.3, 1.1);
}

static double tangent(const double *x, const double *v)
{
    return __enzyme_fwddiff((void *)value, enzyme_dup, x, v);
}

static void gradient(const double *x, double *g)
{
    corpus_zero(g, SIZE);
    __enzyme_autodiff_void((void *)value, enzyme_dup, x, g);
}

static int extra(void)
{
    // The slope of the limit is ignored in both modes.
    int failed = corpus_check("inactive", "forward", fabs(__enzyme_fwddiff((void *)times_limited, 2.0, 1.0) - 2.0), 0.0);
    return failed + corpus_check("inactive", "reverse", fabs(__enzyme_autodiff((void *)times_limited, 2.0) - 2.0), 0.0);
}

static const struct corpus_problem problem = {
    .name = "inactive_statements",
    .size = SIZE,
    .point = point,
    .setup = setup,
    .value = value,
    .tangent = tangent,
    .gradient = gradient,
    .extra = extra,
};

CORPUS_MAIN(&problem)
