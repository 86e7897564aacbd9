// Explicit Euler steps of the Lotka-Volterra equations with saturation,
//
//   u' = a u - b u w / (1 + e u),  w' = -c w + d u w / (1 + e u)
//
// state overwritten in place; loss = sum over all steps of (u - 1)^2 + (w - 1)^2, times the step length.
// Active: initial state, parameters, step length.
// Source: Hairer, Norsett, Wanner, "Solving Ordinary Differential Equations I", sections I.1 and I.7.
#include "corpus.h"

static void rate(const double *state, const double *parameters, double *slope)
{
    double u = state[0], w = state[1];
    double eaten = u * w / (1.0 + parameters[4] * u);
    slope[0] = parameters[0] * u - parameters[1] * eaten;
    slope[1] = -parameters[2] * w + parameters[3] * eaten;
}

static double euler_loss(const double *initial, const double *parameters, double step, int steps)
{
    double state[2] = {initial[0], initial[1]}, slope[2];
    double loss = 0.0;
    for (int t = 0; t < steps; t++) {
        rate(state, parameters, slope);
        for (int i = 0; i < 2; i++) {
            state[i] += step * slope[i];
            loss += step * (state[i] - 1.0) * (state[i] - 1.0);
        }
    }
    return loss;
}

enum { STEPS = CORPUS_SIZE(1000, 20), SIZE = 8 };

static const double point[SIZE] = {1.2, 0.8, 1.1, 0.9, 1.0, 1.05, 0.1, CORPUS_SIZE(0.01, 0.05)};
static const char *const labels[SIZE] = {"u(0)", "w(0)", "a", "b", "c", "d", "e", "step"};

static double value(const double *x)
{
    return euler_loss(x, x + 2, x[7], STEPS);
}

static double tangent(const double *x, const double *v)
{
    return __enzyme_fwddiff((void *)euler_loss, enzyme_dup, x, v, enzyme_dup, x + 2, v + 2, enzyme_dup, x[7], v[7],
                            enzyme_const, STEPS);
}

static double tangent_plain(const double *x, const double *v)
{
    return __enzyme_fwddiff((void *)euler_loss, x, v, x + 2, v + 2, x[7], v[7], STEPS);
}

static void gradient(const double *x, double *g)
{
    corpus_zero(g, SIZE);
    g[7] = __enzyme_autodiff((void *)euler_loss, enzyme_dup, x, g, enzyme_dup, x + 2, g + 2, enzyme_out, x[7],
                             enzyme_const, STEPS);
}

static void gradient_plain(const double *x, double *g)
{
    corpus_zero(g, SIZE);
    g[7] = __enzyme_autodiff((void *)euler_loss, x, g, x + 2, g + 2, x[7], STEPS);
}

static void gradient_initial(const double *x, double *g)
{
    corpus_zero(g, 2);
    __enzyme_autodiff((void *)euler_loss, enzyme_dup, x, g, enzyme_const, x + 2, enzyme_const, x[7], enzyme_const,
                      STEPS);
}

static const struct corpus_problem problem = {
    .name = "ode_euler",
    .size = SIZE,
    .point = point,
    .value = value,
    .tangent = tangent,
    .gradient = gradient,
    .variants =
        {
            {.name = "tangent without annotations", .tangent = tangent_plain},
            {.name = "gradient without annotations", .gradient = gradient_plain},
            {.name = "gradient of the initial state alone", .gradient = gradient_initial, .end = 2},
        },
    .labels = labels,
    .coordinates = CORPUS_ALL,
    .step = 1.0 / 4096.0, // the step length itself is a coordinate, of size 0.01
};

CORPUS_MAIN(&problem)
