// A loop over time with few states kept, in which every other step writes the state: what the first step does not write is
// part of the state all the same, and is left as the loop leaves it. Relaxation of a field by its square.
#include "corpus.h"

enum { N = 8, SIZE = N, STEPS = 4 };

__attribute__((noinline)) static double relaxed(double *u, int steps)
{
    double next[N] = {0.0};
    for (int t = 0; t < steps; t++) {
        for (int i = 0; i < N; i++)
            next[i] = 0.2 * u[i] * u[i];
        if (t & 1)
            for (int i = 0; i < N; i++)
                u[i] = 0.6 * u[i] + 0.3 * next[i];
    }
    return u[1];
}

static double loss(const double *x)
{
    double u[N], sum = 0.0;
    corpus_copy(u, x, N);
    sum = relaxed(u, STEPS);
    for (int i = 0; i < N; i++)
        sum += (0.1 + 0.02 * i) * u[i] * u[i];
    return sum;
}

static double point[SIZE];

static void setup(void)
{
    corpus_seed(7);
    corpus_fill(point, SIZE, 0.2, 0.9);
}

static double value(const double *x) { return loss(x); }

static double tangent(const double *x, const double *v) { return __enzyme_fwddiff((void *)loss, enzyme_dup, x, v); }

static void gradient(const double *x, double *g)
{
    corpus_zero(g, SIZE);
    __enzyme_autodiff((void *)loss, enzyme_max_tape, (size_t)1, x, g);
}

static void in_full(const double *x, double *g)
{
    corpus_zero(g, SIZE);
    __enzyme_autodiff((void *)loss, x, g);
}

// The caller's array, which the steps leave as they do without a derivative.
static int left(void)
{
    double u[N], v[N], du[N] = {0.0}, most = 0.0;
    corpus_copy(u, point, N);
    corpus_copy(v, point, N);
    relaxed(u, STEPS);
    __enzyme_autodiff((void *)relaxed, enzyme_max_tape, (size_t)1, v, du, STEPS);
#if CORPUS_HAS_AD
    for (int i = 0; i < N; i++)
        most = fmax(most, fabs(u[i] - v[i]));
#endif
    return corpus_check("checkpoint_alternate", "what is left in memory", most, 1e-15);
}

static const struct corpus_problem problem = {
    .name = "checkpoint_alternate",
    .size = SIZE,
    .point = point,
    .setup = setup,
    .value = value,
    .tangent = tangent,
    .gradient = gradient,
    .variants = {{.name = "all states", .gradient = in_full}},
    .extra = left,
};

CORPUS_MAIN(&problem)
