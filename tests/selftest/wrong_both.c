// Tangent and gradient that agree with each other but not with the function fail against finite differences.
#include "common.h"

static double tangent(const double *x, const double *v)
{
    return 1.00001 * right_tangent(x, v);
}

static void gradient(const double *x, double *g)
{
    right_gradient(x, g);
    for (int i = 0; i < SIZE; i++)
        g[i] *= 1.00001;
}

static const struct corpus_problem problem = {
    .name = "wrong_both",
    .size = SIZE,
    .point = point,
    .value = value,
    .tangent = tangent,
    .gradient = gradient,
};

CORPUS_MAIN(&problem)
