// Three loops over time: one through a second buffer, whose coefficients are overwritten after it; one with a loop over
// parts of a step in it; and one that the program itself marks, with five states. Loss = last value plus a weighted sum.
// Source: Hascoet, Pascual, "The Tapenade automatic differentiation tool", ACM TOMS 39 (2013), section 5.
#include "corpus.h"

#if CORPUS_HAS_AD
extern void __enzyme_checkpoint(int states);
extern void __enzyme_set_checkpointing(int schedule, int states);
#else
#define __enzyme_set_checkpointing(schedule, states) ((void)(states))
#define __enzyme_checkpoint(states) ((void)(states))
#endif

static double march(double *u, double *c, int n, int steps)
{
    double *next = malloc((size_t)n * sizeof(double));
    for (int t = 0; t < steps; t++) {
        for (int i = 0; i < n; i++)
            next[i] = u[i] + c[i] * sin(u[i]);
        memcpy(u, next, (size_t)n * sizeof(double));
    }
    for (int i = 0; i < n; i++)
        c[i] = 0.1 * c[i] * u[i];
    double sum = 0.0;
    for (int t = 0; t < steps; t++)
        for (int k = 0; k < 3; k++) {
            for (int i = 1; i < n; i++)
                u[i] = 0.9 * u[i] + 0.05 * u[i - 1] * c[i];
            sum = 0.99 * sum + u[n - 1] * u[0];
        }
    for (int t = 0; t < steps; t++) {
        __enzyme_checkpoint(5);
        for (int i = 0; i < n; i++)
            u[i] += 0.01 * c[i] * cos(u[i]);
        if (u[0] > 1e3)
            break;
        sum += 0.01 * u[0] * u[0];
    }
    for (int t = 0; t < steps; t++) {
        __enzyme_set_checkpointing(2, 4);
        for (int i = 0; i < n; i++)
            u[i] -= 0.01 * c[i] * u[i] * u[i];
    }
    free(next);
    for (int i = 0; i < n; i++)
        sum += u[i] * c[i];
    return sum;
}

enum { N = CORPUS_SIZE(12, 3), STEPS = CORPUS_SIZE(40, 6), SIZE = 2 * N };

static double point[SIZE], u[N], c[N];

static void setup(void)
{
    corpus_seed(33);
    corpus_fill(point, N, 0.2, 1.0);
    corpus_fill(point + N, N, 0.01, 0.05);
}

static double value(const double *x)
{
    corpus_copy(u, x, N);
    corpus_copy(c, x + N, N);
    return march(u, c, N, STEPS);
}

static double tangent(const double *x, const double *v)
{
    double du[N], dc[N];
    corpus_copy(u, x, N);
    corpus_copy(c, x + N, N);
    corpus_copy(du, v, N);
    corpus_copy(dc, v + N, N);
    return __enzyme_fwddiff((void *)march, u, du, c, dc, N, STEPS);
}

static void start(const double *x, double *g)
{
    corpus_zero(g, SIZE);
    corpus_copy(u, x, N);
    corpus_copy(c, x + N, N);
}

static void gradient(const double *x, double *g)
{
    start(x, g);
    __enzyme_autodiff((void *)march, u, g, c, g + N, N, STEPS);
}

static void one_state(const double *x, double *g)
{
    start(x, g);
    __enzyme_autodiff((void *)march, enzyme_max_tape, (size_t)1, u, g, c, g + N, N, STEPS);
}

static void few_states(const double *x, double *g)
{
    start(x, g);
    __enzyme_autodiff((void *)march, u, g, c, g + N, N, STEPS, enzyme_max_tape, (size_t)(20 * N * sizeof(double)));
}

static const struct corpus_problem problem = {
    .name = "checkpoint_nested",
    .size = SIZE,
    .point = point,
    .setup = setup,
    .value = value,
    .tangent = tangent,
    .gradient = gradient,
    .variants =
        {
            {.name = "room for one state", .gradient = one_state},
            {.name = "room for few states", .gradient = few_states},
        },
};

CORPUS_MAIN(&problem)
