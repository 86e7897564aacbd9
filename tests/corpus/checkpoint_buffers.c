// Steps between buffers whose pointers change places, under limits that let few of the states be kept: heat from one buffer
// into the other (`pair`), a wave over three time levels (`levels`), a stiff reaction until a clock that is no counter runs
// out, between buffers of the program's own (`own`), two pairs at once, one of which turns twice as often (`pairs`); and
// one step alone, which touches less of one of the buffers (`few`).
// Source: LeVeque, "Finite Difference Methods for Ordinary and Partial Differential Equations", sections 2.16, 9.7, 10.2.
#include "corpus.h"

enum { N = CORPUS_SIZE(24, 6), STEPS = CORPUS_SIZE(101, 9) };

static double weighted(const double *u, const double *v)
{
    double sum = 0.0;
    for (int i = 0; i < N; i++)
        sum += u[i] * (1.0 + 0.1 * i) + 0.5 * v[i] * v[i];
    return sum;
}

static void diffuse(const double *restrict now, double *restrict next, double a)
{
    next[0] = now[0];
    next[N - 1] = now[N - 1];
    for (int i = 1; i < N - 1; i++)
        next[i] = now[i] + 0.2 * a * (now[i - 1] - 2.0 * now[i] + now[i + 1]) - 0.02 * now[i] * now[i] * now[i];
}

static double pair(double *u, double *v, double *w, double a)
{
    double *now = u, *next = v;
    for (int t = 0; t < STEPS; t++) {
        diffuse(now, next, a + 0.01 * w[t % N]);
        double *spare = now;
        now = next;
        next = spare;
    }
    return weighted(now, next);
}

static double levels(double *u, double *v, double *w, double a)
{
    double *before = u, *now = v, *after = w;
    for (int t = 0; t < STEPS; t++) {
        after[0] = after[N - 1] = 0.0;
        for (int i = 1; i < N - 1; i++)
            after[i] = 2.0 * now[i] - before[i] + 0.1 * a * (now[i - 1] - 2.0 * now[i] + now[i + 1]) -
                       0.01 * sin(now[i]);
        double *spare = before;
        before = now;
        now = after;
        after = spare;
    }
    return weighted(before, now);
}

static double own(double *u, double *v, double *w, double a)
{
    double *now = malloc(sizeof(double) * N), *next = malloc(sizeof(double) * N), pace = 1.0, sum = 0.0;
    corpus_copy(now, u, N);
    while (pace > CORPUS_SIZE(0.05, 0.7)) {
        for (int i = 0; i < N; i++)
            next[i] = now[i] + 0.1 * pace * (v[i] - a * now[i] * now[i] * w[i]);
        pace *= 0.96;
        sum += pace * next[N / 2];
        double *spare = now;
        now = next;
        next = spare;
    }
    for (int i = 0; i < N; i++)
        sum += now[i] * (1.0 + 0.1 * i);
    free(now);
    free(next);
    return sum;
}

static double pairs(double *u, double *v, double *w, double a)
{
    double one[N], other[N], *now = u, *next = v, *rate = one, *rates = other;
    corpus_copy(one, w, N);
    for (int t = 0; t < STEPS / 2; t++) {
        for (int k = 0; k < 2; k++) {
            diffuse(now, next, a);
            double *spare = now;
            now = next;
            next = spare;
        }
        for (int i = 0; i < N; i++)
            rates[i] = 0.9 * rate[i] + 0.05 * now[i] * rate[N - 1 - i];
        double *spare = rate;
        rate = rates;
        rates = spare;
    }
    return weighted(now, rate) + rates[N / 2];
}

static volatile int only = 1;

// One step: behind the second half of v, where a second step would read, is nothing.
static double few(double *u, double *v, double *w, double a)
{
    double *now = u, *next = v + N / 2, sum = 0.0;
    int steps = only;
    for (int t = 0; t < steps; t++) {
        for (int i = 0; i < N / 2; i++)
            next[i] = now[i] + a * now[i] * sin(now[N - 1 - i]);
        double *spare = now;
        now = next;
        next = spare;
    }
    for (int i = 0; i < N / 2; i++)
        sum += now[i] * (1.0 + 0.1 * i);
    return sum + v[1] * w[2];
}

#define CHECKPOINT_NAME "checkpoint_buffers"
#define CHECKPOINT_SEED 37
#include "checkpoint_problems.h"

PROBLEM(pair)
PROBLEM(levels)
PROBLEM(own)
PROBLEM(pairs)
PROBLEM(few)

CORPUS_MAIN(&pair_problem, &levels_problem, &own_problem, &pairs_problem, &few_problem)
