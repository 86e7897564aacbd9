// A variant that differs from the gradient fails.
#include "common.h"

static void halved(const double *x, double *g)
{
    right_gradient(x, g);
    g[5] *= 0.5;
}

static const struct corpus_problem problem = {
    .name = "wrong_variant",
    .size = SIZE,
    .point = point,
    .value = value,
    .tangent = right_tangent,
    .gradient = right_gradient,
    .variants = {{.name = "halved", .gradient = halved}},
};

CORPUS_MAIN(&problem)
