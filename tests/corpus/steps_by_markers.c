// A time loop as a call with a function for a step (__enzyme_checkpoint_for), and one that goes on while the step says so
// (__enzyme_checkpoint_while): with a schedule and a region or without, with the state in an argument and in a global variable, as
// codes with COMMON blocks have it, and with an index that is passed by its address.
//
// loss = |u|^2 + sum of the global state after all steps of a damped chain with a forcing that it remembers.
// Source: Griewank, Walther, "Algorithm 799: revolve" (2000), for what such loops are.
#include "corpus.h"

#include "../../include/enzyme/checkpoint.h"

enum { N = 8, STEPS = CORPUS_SIZE(100, 12), SIZE = 2 * N };

static double memory[N];

__attribute__((noinline)) static void step(int64_t i, double *u, double damping)
{
    double next[N];
    for (int k = 0; k < N; k++)
        next[k] = u[k] + damping * (u[(k + 1) % N] - 2.0 * u[k] + u[(k + N - 1) % N]) + 0.01 * sin(memory[k] + 0.1 * (double)i);
    for (int k = 0; k < N; k++) {
        memory[k] = 0.9 * memory[k] + 0.1 * next[k] * next[k];
        u[k] = next[k];
    }
}

static int go_on(int64_t i, double *u)
{
    for (int k = 0; k < N; k++)
        u[k] += 0.05 * sin(u[(k + 1) % N]);
    return i < 9 && u[0] < 100.0;
}

static void by_address(const int64_t *i, double *u)
{
    u[*i % N] *= 1.0 + 0.01 * (double)*i;
}

static double loss(double *x, int64_t n, EnzymeCkptConfig *config)
{
    double *u = x;
    for (int k = 0; k < N; k++)
        memory[k] = x[N + k];
    __enzyme_checkpoint_for((void *)step, 3, n, enzyme_scheme, &EnzymeCkptRevolve, config, enzyme_checkpoint_region, u,
                            (int64_t)(N * sizeof(double)), u, 0.1);
    __enzyme_checkpoint_for((void *)step, 0, n / 4, enzyme_scheme, &EnzymeCkptStoreAll, config, u, 0.05);
    __enzyme_checkpoint_while((void *)go_on, u);
    __enzyme_checkpoint_for((void *)by_address, 1, (int64_t)N, u);
    __enzyme_checkpoint_for((void *)step, 0, n - n, u, 7.0);
    double sum = 0.0;
    for (int k = 0; k < N; k++)
        sum += u[k] * u[k] + memory[k];
    return sum;
}

static double point[SIZE], work[SIZE];
static EnzymeCkptConfig config = {5, 0, NULL, 0, NULL};

static void setup(void)
{
    corpus_seed(142);
    corpus_fill(point, SIZE, 0.2, 0.9);
}

static double value(const double *x)
{
    corpus_copy(work, x, SIZE);
    return loss(work, STEPS, &config);
}

static double tangent(const double *x, const double *v)
{
    double shadow[SIZE];
    corpus_copy(work, x, SIZE);
    corpus_copy(shadow, v, SIZE);
    return __enzyme_fwddiff((void *)loss, enzyme_dup, work, shadow, enzyme_const, (int64_t)STEPS, enzyme_const, &config);
}

static void gradient(const double *x, double *g)
{
    corpus_copy(work, x, SIZE);
    corpus_zero(g, SIZE);
    __enzyme_autodiff((void *)loss, enzyme_dup, work, g, enzyme_const, (int64_t)STEPS, enzyme_const, &config);
}

static const struct corpus_problem problem = {
    .name = "steps_by_markers",
    .size = SIZE,
    .point = point,
    .setup = setup,
    .value = value,
    .tangent = tangent,
    .gradient = gradient,
};

CORPUS_MAIN(&problem)
