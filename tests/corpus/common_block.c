// Global mutable work space, as in codes translated from Fortran: parameters, state and scratch arrays are file-scope
// variables which the routines share, set anew at every call. A travelling wave by Lax-Wendroff with variable speed.
// Source: LeVeque, "Finite Volume Methods for Hyperbolic Problems", section 6.1.
#include "corpus.h"

enum { CELLS = CORPUS_SIZE(120, 10), STEPS = CORPUS_SIZE(80, 4), SIZE = 2 * CELLS };

static struct {
    double u[CELLS + 2], speed[CELLS + 2], flux[CELLS + 2];
    double courant, energy;
    int step, n;
} wave;

static double probe[STEPS];

static void boundary(void)
{
    wave.u[0] = wave.u[wave.n];
    wave.u[wave.n + 1] = wave.u[1];
}

static void fluxes(void)
{
    for (int i = 0; i <= wave.n; i++) {
        double c = 0.5 * (wave.speed[i] + wave.speed[i + 1]) * wave.courant;
        wave.flux[i] = 0.5 * c * (wave.u[i] + wave.u[i + 1]) - 0.5 * c * c * (wave.u[i + 1] - wave.u[i]);
    }
}

static void advance(void)
{
    boundary();
    fluxes();
    for (int i = 1; i <= wave.n; i++)
        wave.u[i] -= wave.flux[i] - wave.flux[i - 1];
    probe[wave.step++] = wave.u[wave.n / 3];
}

static double wave_loss(const double *initial, const double *speed)
{
    wave.n = CELLS;
    wave.step = 0;
    wave.courant = 0.6;
    wave.energy = 0.0;
    for (int i = 1; i <= CELLS; i++) {
        wave.u[i] = initial[i - 1];
        wave.speed[i] = speed[i - 1];
    }
    wave.speed[0] = wave.speed[CELLS];
    wave.speed[CELLS + 1] = wave.speed[1];
    while (wave.step < STEPS)
        advance();
    for (int i = 1; i <= CELLS; i++)
        wave.energy += wave.u[i] * wave.u[i];
    for (int t = 0; t < STEPS; t++)
        wave.energy += sin(probe[t]);
    return wave.energy;
}

static double point[SIZE];

static void setup(void)
{
    corpus_seed(130);
    for (int i = 0; i < CELLS; i++) {
        point[i] = exp(-40.0 * pow((double)i / CELLS - 0.3, 2)) + corpus_uniform(-0.05, 0.05);
        point[CELLS + i] = corpus_uniform(0.6, 1.2);
    }
}

static double value(const double *x)
{
    return wave_loss(x, x + CELLS);
}

static double tangent(const double *x, const double *v)
{
    return __enzyme_fwddiff((void *)wave_loss, enzyme_dup, x, v, enzyme_dup, x + CELLS, v + CELLS);
}

static void gradient(const double *x, double *g)
{
    corpus_zero(g, SIZE);
    __enzyme_autodiff((void *)wave_loss, enzyme_dup, x, g, enzyme_dup, x + CELLS, g + CELLS);
}

static void gradient_plain(const double *x, double *g)
{
    corpus_zero(g, SIZE);
    __enzyme_autodiff((void *)wave_loss, x, g, x + CELLS, g + CELLS);
}

static const struct corpus_problem problem = {
    .name = "common_block",
    .size = SIZE,
    .point = point,
    .setup = setup,
    .value = value,
    .tangent = tangent,
    .gradient = gradient,
    .variants = {{.name = "gradient without annotations", .gradient = gradient_plain}},
};

CORPUS_MAIN(&problem)
