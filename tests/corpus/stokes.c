// Creeping flow in a cavity on a staggered grid: Uzawa's iteration, velocity by Gauss-Seidel sweeps, pressure by
// divergence, with variable viscosity; three fields with different shapes share a struct of pointers into one block.
// Source: Peyret, Taylor, "Computational Methods for Fluid Flow", section 6.3.
#include "corpus.h"

struct fields {
    int n;
    double *u, *v, *p, *mu;
};

#define U(i, j) f->u[(j) * (f->n + 1) + (i)]
#define V(i, j) f->v[(j) * f->n + (i)]
#define P(i, j) f->p[(j) * f->n + (i)]
#define MU(i, j) f->mu[(j) * f->n + (i)]

static void sweep_u(struct fields *f, const double *lid)
{
    int n = f->n;
    for (int j = 0; j < n; j++)
        for (int i = 1; i < n; i++) {
            double mu = 0.5 * (MU(i - 1, j) + MU(i, j)), sum = U(i - 1, j) + U(i + 1, j);
            double below = j > 0 ? U(i, j - 1) : -U(i, j), above = j < n - 1 ? U(i, j + 1) : 2.0 * lid[i] - U(i, j);
            double target = (sum + below + above - (P(i, j) - P(i - 1, j)) / (n * mu)) / 4.0;
            U(i, j) += 0.9 * (target - U(i, j));
        }
}

static void sweep_v(struct fields *f)
{
    int n = f->n;
    for (int j = 1; j < n; j++)
        for (int i = 0; i < n; i++) {
            double mu = 0.5 * (MU(i, j - 1) + MU(i, j)), sum = V(i, j - 1) + V(i, j + 1);
            double left = i > 0 ? V(i - 1, j) : -V(i, j), right = i < n - 1 ? V(i + 1, j) : -V(i, j);
            double target = (sum + left + right - (P(i, j) - P(i, j - 1)) / (n * mu)) / 4.0;
            V(i, j) += 0.9 * (target - V(i, j));
        }
}

static double cavity_loss(const double *lid, const double *log_viscosity, int n, int iterations)
{
    size_t cells = (size_t)(n * n), faces = (size_t)(n * (n + 1));
    double *block = calloc(2 * faces + 2 * cells, sizeof(double)), loss = 0.0;
    struct fields fields = {n, block, block + faces, block + 2 * faces, block + 2 * faces + cells}, *f = &fields;
    for (size_t c = 0; c < cells; c++)
        f->mu[c] = exp(log_viscosity[c]);
    for (int k = 0; k < iterations; k++) {
        sweep_u(f, lid);
        sweep_v(f);
        for (int j = 0; j < n; j++)
            for (int i = 0; i < n; i++)
                P(i, j) -= 0.6 * n * MU(i, j) * (U(i + 1, j) - U(i, j) + V(i, j + 1) - V(i, j));
    }
    for (int j = 0; j < n; j++)
        for (int i = 0; i < n; i++) {
            double a = 0.5 * (U(i, j) + U(i + 1, j)), b = 0.5 * (V(i, j) + V(i, j + 1));
            loss += a * a + b * b + 1e-4 * P(i, j) * P(i, j);
        }
    free(block);
    return loss / (double)cells;
}

enum { N = CORPUS_SIZE(10, 4), ITERATIONS = CORPUS_SIZE(40, 3), SIZE = N + 1 + N * N };

static double point[SIZE];

static void setup(void)
{
    corpus_seed(185);
    corpus_fill(point, N + 1, 0.8, 1.2);
    corpus_fill(point + N + 1, N * N, -0.3, 0.3);
}

static double value(const double *x)
{
    return cavity_loss(x, x + N + 1, N, ITERATIONS);
}

static double tangent(const double *x, const double *v)
{
    return __enzyme_fwddiff((void *)cavity_loss, enzyme_dup, x, v, enzyme_dup, x + N + 1, v + N + 1, enzyme_const, N,
                            enzyme_const, ITERATIONS);
}

static void gradient(const double *x, double *g)
{
    corpus_zero(g, SIZE);
    __enzyme_autodiff((void *)cavity_loss, enzyme_dup, x, g, enzyme_dup, x + N + 1, g + N + 1, enzyme_const, N,
                      enzyme_const, ITERATIONS);
}

static const struct corpus_problem problem = {
    .name = "stokes",
    .size = SIZE,
    .point = point,
    .setup = setup,
    .value = value,
    .tangent = tangent,
    .gradient = gradient,
};

CORPUS_MAIN(&problem)
