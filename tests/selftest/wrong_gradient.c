// A gradient that is wrong in one component by one part in a million fails the dot test.
#include "common.h"

static void gradient(const double *x, double *g)
{
    right_gradient(x, g);
    g[3] *= 1.000001;
}

static const struct corpus_problem problem = {
    .name = "wrong_gradient",
    .size = SIZE,
    .point = point,
    .value = value,
    .tangent = right_tangent,
    .gradient = gradient,
};

CORPUS_MAIN(&problem)
