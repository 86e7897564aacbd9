// A component that is never written fails.
#include "common.h"

static void gradient(const double *x, double *g)
{
    double kept = g[2];
    right_gradient(x, g);
    g[2] = kept;
}

static const struct corpus_problem problem = {
    .name = "wrong_unwritten",
    .size = SIZE,
    .point = point,
    .value = value,
    .tangent = right_tangent,
    .gradient = gradient,
};

CORPUS_MAIN(&problem)
