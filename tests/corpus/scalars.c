// f(x, y, n) = sum_{k=1..n} sin(k x) y^k / k: every way to pass scalars.
// Several active scalars without annotation come back as a struct of their adjoints.
#include "corpus.h"

struct pair {
    double x, y;
};

CORPUS_MARKER(struct pair, __enzyme_autodiff_pair)

static double series(double x, double y, int terms)
{
    double sum = 0.0, power = 1.0;
    for (int k = 1; k <= terms; k++) {
        power *= y;
        sum += sin(k * x) * power / k;
    }
    return sum;
}

enum { TERMS = 7 };
static const double point[2] = {0.7, 0.9};

static double value(const double *x)
{
    return series(x[0], x[1], TERMS);
}

static double tangent(const double *x, const double *v)
{
    return __enzyme_fwddiff((void *)series, enzyme_dup, x[0], v[0], enzyme_dup, x[1], v[1], enzyme_const, TERMS);
}

static double tangent_plain(const double *x, const double *v)
{
    return __enzyme_fwddiff((void *)series, x[0], v[0], x[1], v[1], TERMS);
}

static double tangent_by_parts(const double *x, const double *v)
{
    return v[0] * __enzyme_fwddiff((void *)series, enzyme_dup, x[0], 1.0, enzyme_const, x[1], enzyme_const, TERMS) +
           v[1] * __enzyme_fwddiff((void *)series, enzyme_const, x[0], enzyme_dup, x[1], 1.0, enzyme_const, TERMS);
}

static void gradient(const double *x, double *g)
{
    struct pair adjoints =
        __enzyme_autodiff_pair((void *)series, enzyme_out, x[0], enzyme_out, x[1], enzyme_const, TERMS);
    g[0] = adjoints.x;
    g[1] = adjoints.y;
}

static void gradient_plain(const double *x, double *g)
{
    struct pair adjoints = __enzyme_autodiff_pair((void *)series, x[0], x[1], TERMS);
    g[0] = adjoints.x;
    g[1] = adjoints.y;
}

static void gradient_one_by_one(const double *x, double *g)
{
    g[0] = __enzyme_autodiff((void *)series, enzyme_out, x[0], enzyme_const, x[1], TERMS);
    g[1] = __enzyme_autodiff((void *)series, enzyme_const, x[0], enzyme_out, x[1], TERMS);
}

static const struct corpus_problem problem = {
    .name = "scalars",
    .size = 2,
    .point = point,
    .value = value,
    .tangent = tangent,
    .gradient = gradient,
    .variants =
        {
            {.name = "tangent without annotations", .tangent = tangent_plain},
            {.name = "tangent, one active argument at a time", .tangent = tangent_by_parts},
            {.name = "gradient without annotations", .gradient = gradient_plain},
            {.name = "gradient, one active argument at a time", .gradient = gradient_one_by_one},
        },
    .coordinates = CORPUS_ALL,
};

CORPUS_MAIN(&problem)
