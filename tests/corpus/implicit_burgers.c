// Burgers' equation by implicit Euler: Newton's method in every step, with a tridiagonal Jacobian solved by Thomas's
// algorithm, until the update is small. Active: initial state and viscosity. Loss = energy + gradient at the end.
#include "corpus.h"

struct tridiagonal {
    double *lower, *diagonal, *upper;
};

static void thomas(const struct tridiagonal *m, double *b, double *scratch, int n)
{
    double pivot = m->diagonal[0];
    b[0] /= pivot;
    for (int i = 1; i < n; i++) {
        scratch[i] = m->upper[i - 1] / pivot;
        pivot = m->diagonal[i] - m->lower[i] * scratch[i];
        b[i] = (b[i] - m->lower[i] * b[i - 1]) / pivot;
    }
    for (int i = n - 2; i >= 0; i--)
        b[i] -= scratch[i + 1] * b[i + 1];
}

static int newton_step(double *u, const double *old, int n, double dt, double dx, double nu, struct tridiagonal *m,
                       double *scratch)
{
    double *f = scratch + n;
    for (int iteration = 1;; iteration++) {
        double largest = 0.0;
        for (int i = 0; i < n; i++) {
            double left = i > 0 ? u[i - 1] : 0.0, right = i + 1 < n ? u[i + 1] : 0.0;
            f[i] = old[i] - u[i] - dt * (right * right - left * left) / (4.0 * dx) +
                   dt * nu * (left - 2.0 * u[i] + right) / (dx * dx);
            m->diagonal[i] = 1.0 + 2.0 * dt * nu / (dx * dx);
            m->lower[i] = -dt * left / (2.0 * dx) - dt * nu / (dx * dx);
            m->upper[i] = dt * right / (2.0 * dx) - dt * nu / (dx * dx);
        }
        thomas(m, f, scratch, n);
        for (int i = 0; i < n; i++) {
            u[i] += f[i];
            largest = fmax(largest, fabs(f[i]));
        }
        if (largest < 1e-13 || iteration == 20)
            return iteration;
    }
}

static double burgers_loss(const double *initial, double nu, int n, int steps)
{
    double *memory = malloc(sizeof(double) * (size_t)(7 * n)), loss = 0.0;
    double *u = memory, *old = memory + n;
    struct tridiagonal m = {memory + 2 * n, memory + 3 * n, memory + 4 * n};
    memcpy(u, initial, sizeof(double) * (size_t)n);
    for (int t = 0; t < steps; t++) {
        memcpy(old, u, sizeof(double) * (size_t)n);
        newton_step(u, old, n, 0.02, 1.0 / (n + 1), nu, &m, memory + 5 * n);
    }
    for (int i = 0; i < n; i++)
        loss += u[i] * u[i] / n;
    for (int i = 1; i < n; i++)
        loss += (u[i] - u[i - 1]) * (u[i] - u[i - 1]);
    free(memory);
    return loss;
}

enum { N = CORPUS_SIZE(50, 6), STEPS = CORPUS_SIZE(12, 2), SIZE = N + 1 };

static double point[SIZE];

static void setup(void)
{
    corpus_seed(147);
    for (int i = 0; i < N; i++)
        point[i] = sin(6.2831853 * (i + 1.0) / (N + 1)) + corpus_uniform(-0.05, 0.05);
    point[N] = 0.02;
}

static double loss(const double *x)
{
    return burgers_loss(x, x[N], N, STEPS);
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
    .name = "implicit_burgers",
    .size = SIZE,
    .point = point,
    .setup = setup,
    .value = value,
    .tangent = tangent,
    .gradient = gradient,
    .step = 1.0 / 512.0, // the viscosity is 0.02
};

CORPUS_MAIN(&problem)
