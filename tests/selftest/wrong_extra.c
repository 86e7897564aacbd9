// A further check that fails fails the program.
#include "common.h"

static int extra(void)
{
    return corpus_check("wrong_extra", "too large", 1.0, 0.5);
}

static const struct corpus_problem problem = {
    .name = "wrong_extra",
    .size = SIZE,
    .point = point,
    .value = value,
    .tangent = right_tangent,
    .gradient = right_gradient,
    .extra = extra,
};

CORPUS_MAIN(&problem)
