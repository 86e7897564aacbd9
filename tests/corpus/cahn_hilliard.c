// The Cahn-Hilliard equation on a ring, explicit steps: chemical potential mu = c^3 - c - e^2 c'', c_t = mu''.
// Indices wrap by conditional expressions, three buffers in one static array of arrays. Loss = free energy + pattern
// misfit.
// Source: Cahn, Hilliard, J. Chem. Phys. 28 (1958).
#include "corpus.h"

enum { N = CORPUS_SIZE(64, 8), STEPS = CORPUS_SIZE(60, 3), SIZE = N + 1 };

static double laplacian(const double *c, int i)
{
    return c[i == 0 ? N - 1 : i - 1] - 2.0 * c[i] + c[i == N - 1 ? 0 : i + 1];
}

static double energy(const double *c, double stiffness)
{
    double sum = 0.0;
    for (int i = 0; i < N; i++) {
        double well = 1.0 - c[i] * c[i], slope = c[(i + 1) % N] - c[i];
        sum += 0.25 * well * well + 0.5 * stiffness * slope * slope;
    }
    return sum;
}

static double separation_loss(const double *initial, double width, const double *target)
{
    static double fields[3][N];
    double *c = fields[0], *mu = fields[1], *rate = fields[2];
    double stiffness = width * width, loss = 0.0;
    for (int i = 0; i < N; i++)
        c[i] = initial[i];
    for (int t = 0; t < STEPS; t++) {
        for (int i = 0; i < N; i++)
            mu[i] = c[i] * (c[i] * c[i] - 1.0) - stiffness * laplacian(c, i);
        for (int i = 0; i < N; i++)
            rate[i] = laplacian(mu, i);
        for (int i = 0; i < N; i++)
            c[i] += 0.02 * rate[i];
    }
    for (int i = 0; i < N; i++)
        loss += (c[i] - target[i]) * (c[i] - target[i]);
    return loss + energy(c, stiffness);
}

static double point[SIZE], target[N];

static void setup(void)
{
    corpus_seed(149);
    corpus_fill(point, N, -0.3, 0.3);
    for (int i = 0; i < N; i++)
        target[i] = sin(6.2831853 * 4 * i / N);
    point[N] = 1.1;
}

static double loss(const double *x)
{
    return separation_loss(x, x[N], target);
}

static double value(const double *x)
{
    return loss(x);
}

static double tangent(const double *x, const double *v)
{
    return __enzyme_fwddiff((void *)loss, enzyme_dup, x, v);
}

static void gradient(const double *x, double *g)
{
    corpus_zero(g, SIZE);
    __enzyme_autodiff((void *)loss, enzyme_dup, x, g);
}

static const struct corpus_problem problem = {
    .name = "cahn_hilliard",
    .size = SIZE,
    .point = point,
    .setup = setup,
    .value = value,
    .tangent = tangent,
    .gradient = gradient,
};

CORPUS_MAIN(&problem)
