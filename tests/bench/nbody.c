// Energy of n bodies (the corpus program): kinetic energy and softened potential of all pairs. By hand: all pairs once, in one
// sweep for value and gradient; nothing is kept.
#include "bench.h"

#include "../corpus/nbody_energy.c"

static void energy_into(const double *positions, const double *velocities, const double *masses, int n, double softening,
                        double *restrict result)
{
    *result = energy(positions, velocities, masses, n, softening);
}

BENCH_INLINE double adjoint(const struct bench_point *data, double *restrict g)
{
    int n = data->size;
    const double *x = data->x, *v = x + 3 * n, *masses = v + 3 * n;
    double *x_adjoint = g, *v_adjoint = g + 3 * n, *masses_adjoint = v_adjoint + 3 * n;
    double softening = x[7 * n], kinetic = 0.0, potential = 0.0, softening_adjoint = 0.0;
    for (int i = 0; i < n; i++) {
        double speed = v[3 * i] * v[3 * i] + v[3 * i + 1] * v[3 * i + 1] + v[3 * i + 2] * v[3 * i + 2];
        double x0 = x[3 * i], x1 = x[3 * i + 1], x2 = x[3 * i + 2], mass = masses[i];
        double pull0 = 0.0, pull1 = 0.0, pull2 = 0.0, mass_adjoint = 0.5 * speed;
        kinetic += 0.5 * mass * speed;
        for (int k = 0; k < 3; k++)
            v_adjoint[3 * i + k] += mass * v[3 * i + k];
        for (int j = i + 1; j < n; j++) {
            double d0 = x0 - x[3 * j], d1 = x1 - x[3 * j + 1], d2 = x2 - x[3 * j + 2];
            double distance = softening * softening + d0 * d0 + d1 * d1 + d2 * d2, inverse = 1.0 / sqrt(distance);
            double shared = masses[j] * inverse, term = mass * shared, slope = term * (inverse * inverse);
            potential -= term;
            mass_adjoint -= shared;
            masses_adjoint[j] -= mass * inverse;
            softening_adjoint += slope;
            pull0 += slope * d0;
            pull1 += slope * d1;
            pull2 += slope * d2;
            x_adjoint[3 * j] -= slope * d0;
            x_adjoint[3 * j + 1] -= slope * d1;
            x_adjoint[3 * j + 2] -= slope * d2;
        }
        x_adjoint[3 * i] += pull0;
        x_adjoint[3 * i + 1] += pull1;
        x_adjoint[3 * i + 2] += pull2;
        masses_adjoint[i] += mass_adjoint;
    }
    g[7 * n] += softening * softening_adjoint;
    return kinetic + potential;
}

static struct bench_point *bench_setup(int n)
{
    struct bench_point *data = BENCH_NEW(struct bench_point, 1);
    *data = (struct bench_point){n, 7 * (size_t)n + 1, BENCH_NEW(double, 7 * n + 1)};
    corpus_seed(113);
    corpus_fill(data->x, 6 * (size_t)n, -1.0, 1.0);
    corpus_fill(data->x + 6 * n, (size_t)n, 0.5, 1.5);
    data->x[7 * n] = 0.3;
    return data;
}

static double bench_primal(struct bench_point *at)
{
    int n = at->size;
    const double *x = at->x;
    return energy(x, x + 3 * n, x + 6 * n, n, x[7 * n]);
}

static void bench_gradient(struct bench_point *at, double *g)
{
    int n = at->size;
    const double *x = at->x;
    memset(g, 0, sizeof(double) * at->count);
    g[7 * n] = __enzyme_autodiff((void *)energy, enzyme_dup, x, g, enzyme_dup, x + 3 * n, g + 3 * n, enzyme_dup,
                                 x + 6 * n, g + 6 * n, enzyme_const, n, enzyme_out, x[7 * n]);
}

static double bench_value_gradient(struct bench_point *at, double *g)
{
    int n = at->size;
    const double *x = at->x;
    double result = 0.0, seed = 1.0;
    memset(g, 0, sizeof(double) * at->count);
    g[7 * n] = __enzyme_autodiff((void *)energy_into, enzyme_dup, x, g, enzyme_dup, x + 3 * n, g + 3 * n, enzyme_dup,
                                 x + 6 * n, g + 6 * n, enzyme_const, n, enzyme_out, x[7 * n], enzyme_dup, &result,
                                 &seed);
    return result;
}

BENCH_HAND(struct bench_point, adjoint)

const struct bench_kernel BENCH_NAME(BENCH_COLUMN) = {
    .name = "nbody",
    .small = 20,
    .normal = 500,
    .sweep = {50, 150, 500, 1500},
    BENCH_FUNCTIONS,
};
