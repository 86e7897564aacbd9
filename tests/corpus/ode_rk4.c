// Classical Runge-Kutta steps of a ring of coupled van der Pol oscillators,
//
//   x_i'' = mu (1 - x_i^2) x_i' - x_i + kappa (x_{i-1} - 2 x_i + x_{i+1})
//
// with the four slopes in local arrays and the state advanced in place; loss = |state(T) - target|^2.
// Source: Hairer, Norsett, Wanner, "Solving Ordinary Differential Equations I", sections I.16 and II.1.
#include "corpus.h"

enum { RING = 6, STATE = 2 * RING };

__attribute__((noinline)) static void rate(const double *state, const double *parameters, double *slope)
{
    double mu = parameters[0], kappa = parameters[1];
    for (int i = 0; i < RING; i++) {
        double x = state[i], velocity = state[RING + i];
        double left = state[i == 0 ? RING - 1 : i - 1], right = state[i == RING - 1 ? 0 : i + 1];
        slope[i] = velocity;
        slope[RING + i] = mu * (1.0 - x * x) * velocity - x + kappa * (left - 2.0 * x + right);
    }
}

static void rk4_step(double *state, const double *parameters, double step)
{
    static const double nodes[4] = {0.0, 0.5, 0.5, 1.0};
    static const double shares[4] = {1.0 / 6.0, 1.0 / 3.0, 1.0 / 3.0, 1.0 / 6.0};
    double stage[STATE], slope[4][STATE];
    for (int s = 0; s < 4; s++) {
        for (int i = 0; i < STATE; i++)
            stage[i] = s == 0 ? state[i] : state[i] + nodes[s] * step * slope[s - 1][i];
        rate(stage, parameters, slope[s]);
    }
    for (int s = 0; s < 4; s++)
        for (int i = 0; i < STATE; i++)
            state[i] += shares[s] * step * slope[s][i];
}

static double rk4_loss(double *state, const double *parameters, const double *target, double step, int steps)
{
    for (int t = 0; t < steps; t++)
        rk4_step(state, parameters, step);
    double loss = 0.0;
    for (int i = 0; i < STATE; i++)
        loss += (state[i] - target[i]) * (state[i] - target[i]);
    return loss;
}

enum { STEPS = CORPUS_SIZE(100, 3), SIZE = STATE + 2 };

static const double step = 0.03;
static double point[SIZE], target[STATE], work[STATE], shadow[STATE];

static void setup(void)
{
    corpus_seed(6);
    corpus_fill(point, STATE, -1.0, 1.0);
    corpus_fill(target, STATE, -1.0, 1.0);
    point[STATE] = 1.3;
    point[STATE + 1] = 0.4;
}

static double value(const double *x)
{
    corpus_copy(work, x, STATE);
    return rk4_loss(work, x + STATE, target, step, STEPS);
}

static double tangent(const double *x, const double *v)
{
    corpus_copy(work, x, STATE);
    corpus_copy(shadow, v, STATE);
    return __enzyme_fwddiff((void *)rk4_loss, enzyme_dup, work, shadow, enzyme_dup, x + STATE, v + STATE, enzyme_const,
                            target, enzyme_const, step, enzyme_const, STEPS);
}

static void gradient(const double *x, double *g)
{
    corpus_copy(work, x, STATE);
    corpus_zero(g, SIZE);
    __enzyme_autodiff((void *)rk4_loss, enzyme_dup, work, g, enzyme_dup, x + STATE, g + STATE, enzyme_const, target,
                      enzyme_const, step, enzyme_const, STEPS);
}

// One step at a time, last step first: the caller keeps the states and the adjoint of the state travels in the shadow.
static void gradient_stepwise(const double *x, double *g)
{
    double *states = corpus_vector((STEPS + 1) * STATE);
    corpus_copy(states, x, STATE);
    for (int t = 0; t < STEPS; t++) {
        corpus_copy(states + (t + 1) * STATE, states + t * STATE, STATE);
        rk4_step(states + (t + 1) * STATE, x + STATE, step);
    }
    corpus_zero(g, SIZE);
    for (int i = 0; i < STATE; i++)
        g[i] = 2.0 * (states[STEPS * STATE + i] - target[i]);
    for (int t = STEPS - 1; t >= 0; t--)
        __enzyme_autodiff_void((void *)rk4_step, enzyme_dup, states + t * STATE, g, enzyme_dup, x + STATE, g + STATE,
                               enzyme_const, step);
    free(states);
}

static const struct corpus_problem problem = {
    .name = "ode_rk4",
    .size = SIZE,
    .point = point,
    .setup = setup,
    .value = value,
    .tangent = tangent,
    .gradient = gradient,
    .variants = {{.name = "gradient step by step", .gradient = gradient_stepwise}},
};

CORPUS_MAIN(&problem)
