// Energy of N bodies: E = sum_i m_i |v_i|^2 / 2 - sum_{i<j} m_i m_j / sqrt(|x_i - x_j|^2 + e^2).
// Source: Aarseth, "Gravitational N-Body Simulations", section 1.2 (softened potential).
#include "corpus.h"

static double energy(const double *positions, const double *velocities, const double *masses, int n, double softening)
{
    double kinetic = 0.0, potential = 0.0;
    for (int i = 0; i < n; i++) {
        double speed = 0.0;
        for (int k = 0; k < 3; k++)
            speed += velocities[3 * i + k] * velocities[3 * i + k];
        kinetic += 0.5 * masses[i] * speed;
        for (int j = i + 1; j < n; j++) {
            double distance = softening * softening;
            for (int k = 0; k < 3; k++) {
                double apart = positions[3 * i + k] - positions[3 * j + k];
                distance += apart * apart;
            }
            potential -= masses[i] * masses[j] / sqrt(distance);
        }
    }
    return kinetic + potential;
}

enum { N = CORPUS_SIZE(80, 5), SIZE = 7 * N + 1 };

static double point[SIZE];

static void setup(void)
{
    corpus_seed(13);
    corpus_fill(point, 6 * N, -1.0, 1.0);
    corpus_fill(point + 6 * N, N, 0.5, 1.5);
    point[7 * N] = 0.3;
}

static double value(const double *x)
{
    return energy(x, x + 3 * N, x + 6 * N, N, x[7 * N]);
}

static double tangent(const double *x, const double *v)
{
    return __enzyme_fwddiff((void *)energy, enzyme_dup, x, v, enzyme_dup, x + 3 * N, v + 3 * N, enzyme_dup, x + 6 * N,
                            v + 6 * N, enzyme_const, N, enzyme_dup, x[7 * N], v[7 * N]);
}

static void gradient(const double *x, double *g)
{
    corpus_zero(g, SIZE);
    g[7 * N] = __enzyme_autodiff((void *)energy, enzyme_dup, x, g, enzyme_dup, x + 3 * N, g + 3 * N, enzyme_dup,
                                 x + 6 * N, g + 6 * N, enzyme_const, N, enzyme_out, x[7 * N]);
}

static void gradient_plain(const double *x, double *g)
{
    corpus_zero(g, SIZE);
    g[7 * N] =
        __enzyme_autodiff((void *)energy, x, g, x + 3 * N, g + 3 * N, x + 6 * N, g + 6 * N, N, x[7 * N]);
}

static void gradient_positions(const double *x, double *g)
{
    corpus_zero(g, 3 * N);
    __enzyme_autodiff((void *)energy, x, g, enzyme_const, x + 3 * N, enzyme_const, x + 6 * N, N, enzyme_const, x[7 * N]);
}

static const struct corpus_problem problem = {
    .name = "nbody_energy",
    .size = SIZE,
    .point = point,
    .setup = setup,
    .value = value,
    .tangent = tangent,
    .gradient = gradient,
    .variants =
        {
            {.name = "gradient without annotations", .gradient = gradient_plain},
            {.name = "gradient of the positions alone", .gradient = gradient_positions, .end = 3 * N},
        },
};

CORPUS_MAIN(&problem)
