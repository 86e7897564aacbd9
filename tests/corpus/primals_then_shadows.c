// A finite-element kernel called as libraries of quadrature kernels call them: all primal arguments first, then enzyme_interleave, then all
// shadows in the same order; constants and the annotations of the whole call between and behind them.
#include "corpus.h"

enum { SIZE = 7 };

struct constants {
    double lambda, mu;
};
CORPUS_MARKER_VOID(__enzyme_fwddiff_lanes)
extern int enzyme_interleave, enzyme_runtime_activity, enzyme_width;

static double point[SIZE];
static const struct constants material = {1.2, 0.7};

// Stress of a small strain, weighted: two inputs by address, one output.
static void kernel(const struct constants *c, const double *gradient, const double *shape, double *stress)
{
    double strain[4] = {gradient[0] * shape[0], 0.5 * (gradient[1] + gradient[2]) * shape[1],
                        0.5 * (gradient[1] + gradient[2]) * shape[1], gradient[3] * shape[2]};
    double trace = strain[0] + strain[3];
    for (int i = 0; i < 4; i++)
        stress[i] = 2.0 * c->mu * strain[i] * exp(0.1 * trace) + (i % 3 ? 0.0 : c->lambda * trace);
}

static double weigh(const double *stress)
{
    return stress[0] + 2.0 * stress[1] - stress[2] + 0.5 * stress[3];
}

static double value(const double *x)
{
    double stress[4];
    kernel(&material, x, x + 4, stress);
    return weigh(stress);
}

static void setup(void)
{
    corpus_seed(71);
    corpus_fill(point, SIZE, 0.2, 1.2);
}

static double tangent(const double *x, const double *v)
{
    double stress[4], dstress[4];
    __enzyme_fwddiff_void((void *)kernel, enzyme_const, &material, enzyme_dup, x, x + 4, stress, enzyme_interleave, v, v + 4,
                          dstress, enzyme_runtime_activity);
    return weigh(dstress);
}

static void gradient(const double *x, double *g)
{
    double stress[4], seed[4] = {1.0, 2.0, -1.0, 0.5};
    corpus_zero(g, SIZE);
    __enzyme_autodiff_void((void *)kernel, enzyme_const, &material, enzyme_dup, x, enzyme_dup, x + 4, enzyme_dup, stress,
                           enzyme_interleave, g, g + 4, seed);
}

// The shadows of each argument stand together.
static double in_lanes(const double *x, const double *v)
{
    double stress[4], d[4], other[4], zero[SIZE] = {0.0};
    __enzyme_fwddiff_lanes((void *)kernel, enzyme_width, 2, enzyme_const, &material, x, x + 4, stress, enzyme_interleave,
                           v, zero, v + 4, zero, d, other);
    return weigh(d) + weigh(other);
}

static const struct corpus_problem problem = {
    .name = "primals_then_shadows",
    .size = SIZE,
    .point = point,
    .setup = setup,
    .value = value,
    .tangent = tangent,
    .gradient = gradient,
    .variants = {{.name = "in lanes", .tangent = in_lanes}},
    .coordinates = SIZE,
};

CORPUS_MAIN(&problem)
