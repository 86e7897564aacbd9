// log sum_i exp(x_i), shifted by the largest value so that nothing overflows. Its gradient is the softmax of x, which
// sums to one; entries of 800 would overflow without the shift.
// Source: Blanchard, Higham, Higham, "Accurately computing the log-sum-exp and softmax functions", 2021.
#include "corpus.h"

static double log_sum_exp(const double *x, int n)
{
    double largest = x[0];
    for (int i = 1; i < n; i++)
        largest = x[i] > largest ? x[i] : largest;
    double sum = 0.0;
    for (int i = 0; i < n; i++)
        sum += exp(x[i] - largest);
    return largest + log(sum);
}

enum { SIZE = CORPUS_SIZE(2000, 16) };

static double point[SIZE];

static void setup(void)
{
    corpus_seed(18);
    corpus_fill(point, SIZE, 795.0, 800.0);
}

static double value(const double *x)
{
    return log_sum_exp(x, SIZE);
}

static double tangent(const double *x, const double *v)
{
    return __enzyme_fwddiff((void *)log_sum_exp, enzyme_dup, x, v, enzyme_const, SIZE);
}

static double tangent_plain(const double *x, const double *v)
{
    return __enzyme_fwddiff((void *)log_sum_exp, x, v, SIZE);
}

static void gradient(const double *x, double *g)
{
    corpus_zero(g, SIZE);
    __enzyme_autodiff((void *)log_sum_exp, enzyme_dup, x, g, enzyme_const, SIZE);
}

static void gradient_plain(const double *x, double *g)
{
    corpus_zero(g, SIZE);
    __enzyme_autodiff((void *)log_sum_exp, x, g, SIZE);
}

static void softmax(const double *x, double *g)
{
    double total = log_sum_exp(x, SIZE);
    for (int i = 0; i < SIZE; i++)
        g[i] = exp(x[i] - total);
}

static const struct corpus_problem problem = {
    .name = "logsumexp",
    .size = SIZE,
    .point = point,
    .setup = setup,
    .value = value,
    .tangent = tangent,
    .gradient = gradient,
    .variants =
        {
            {.name = "tangent without annotations", .tangent = tangent_plain},
            {.name = "gradient without annotations", .gradient = gradient_plain},
            {.name = "gradient against softmax", .gradient = softmax},
        },
    .fd_tolerance = 1e-6, // values near 800 cost three digits
};

CORPUS_MAIN(&problem)
