// Second derivatives where the gradient keeps few states: the tangents of states are kept with them, wherever arrays that
// touch in memory have their shadows. Value = gradient of the loss along a direction.
#include "corpus.h"

// Of 320 bytes each, so that they lie side by side.
enum { N = 40, SIZE = 3 };

static double loss(const double *x)
{
    double state[N], factors[N], sum = 0.0;
    for (int i = 0; i < N; i++) {
        factors[i] = x[0] + 0.01 * i;
        state[i] = x[1] - 0.5 * factors[i];
    }
    for (int i = 4; i < N - 4; i++)
        state[i + 2] = 0.3 * state[i + 1] + x[2] * state[i] * factors[i];
    for (int i = 0; i < N; i++)
        sum += (0.1 + 0.02 * (i & 7)) * state[i] * state[i];
    // Of these states, which are zero throughout, only the tangents change.
    double still[8];
    for (int i = 0; i < 8; i++)
        still[i] = x[i & 1] - (i & 1 ? 0.3 : 1.1);
    for (int t = 0; t < 20; t++)
        for (int i = 0; i < 8; i++)
            still[i] = still[i] * 1.1 + still[i] * still[7 - i] * x[2];
    for (int i = 0; i < 8; i++)
        sum += 0.01 * (still[i] * still[i] * (1 + i) + still[i]);
    return sum;
}

static double point[SIZE] = {1.1, 0.3, 0.1};
static const double direction[SIZE] = {1.0, -0.7, 0.4};

static double along(const double *x, double *g)
{
    double sum = 0.0;
    __enzyme_autodiff((void *)loss, enzyme_max_tape, (size_t)1, x, g);
    for (int k = 0; k < SIZE; k++)
        sum += direction[k] * g[k];
    return sum;
}

static double value(const double *x)
{
    double g[SIZE] = {0.0};
    return along(x, g);
}

static double tangent(const double *x, const double *v)
{
    double g[SIZE] = {0.0}, h[SIZE] = {0.0};
    return __enzyme_fwddiff((void *)along, enzyme_dup, x, v, enzyme_dup, g, h);
}

static void gradient(const double *x, double *g)
{
    for (int k = 0; k < SIZE; k++) {
        double unit[SIZE] = {0.0};
        unit[k] = 1.0;
        g[k] = tangent(x, unit);
    }
}

static const struct corpus_problem problem = {
    .name = "checkpoint_second",
    .size = SIZE,
    .point = point,
    .value = value,
    .tangent = tangent,
    .gradient = gradient,
};

CORPUS_MAIN(&problem)
