// A loop with few states kept that copies a number by its bytes, so that it leaves the loop, and passes from step to step, as an
// integer: a delay line of one place whose content is replaced by memcpy.
#include "corpus.h"

enum { SIZE = 4, STEPS = 3 };

static double loss(const double *x)
{
    double line[4], sum = 0.0;
    for (int i = 0; i < 4; i++)
        line[i] = 0.5;
    for (int t = 0; t < STEPS; t++) {
        double *weights = malloc(4 * sizeof(double));
        for (int i = 0; i < 4; i++)
            weights[i] = tanh(line[1] + 0.1 * i);
        line[1] = 0.5 * x[0];
        memcpy(line, x + 1, sizeof(double));
        sum += 0.5 * weights[1];
        free(weights);
    }
    return sum + 0.24 * line[0] - 0.2 * line[3] * x[2] * x[3];
}

static double point[SIZE] = {0.7, 0.3, 1.1, 0.4};

static double value(const double *x) { return loss(x); }

static double tangent(const double *x, const double *v) { return __enzyme_fwddiff((void *)loss, enzyme_dup, x, v); }

static void gradient(const double *x, double *g)
{
    corpus_zero(g, SIZE);
    __enzyme_autodiff((void *)loss, enzyme_max_tape, (size_t)1, x, g);
}

static void in_full(const double *x, double *g)
{
    corpus_zero(g, SIZE);
    __enzyme_autodiff((void *)loss, x, g);
}

static const struct corpus_problem problem = {
    .name = "checkpoint_copied",
    .size = SIZE,
    .point = point,
    .value = value,
    .tangent = tangent,
    .gradient = gradient,
    .variants = {{.name = "all states", .gradient = in_full}},
};

CORPUS_MAIN(&problem)
