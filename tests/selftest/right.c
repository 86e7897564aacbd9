// Right derivatives pass.
#include "common.h"

static const struct corpus_problem problem = {
    .name = "right",
    .size = SIZE,
    .point = point,
    .value = value,
    .tangent = right_tangent,
    .gradient = right_gradient,
    .variants = {{.name = "again", .gradient = right_gradient}, {.name = "and again", .tangent = right_tangent}},
    .coordinates = CORPUS_ALL,
};

CORPUS_MAIN(&problem)
