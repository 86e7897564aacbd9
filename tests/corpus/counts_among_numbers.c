// Integers that are computed with in places where doubles lie at other times, and words that are random bits before they
// are doubles: a stochastic gradient of a fit with a generator of its own (G. Marsaglia, "Xorshift RNGs", Journal of
// Statistical Software 8, 2003), tagged values of which the counts are stepped in a function of their own.
#include <stdint.h>
#include <string.h>

#include "corpus.h"

enum { N = 6, TERMS = 8 };

struct generator {
    uint64_t state;
    double last;
};
struct value {
    int counts;
    union {
        double number;
        long count;
    } is;
};

__attribute__((noinline)) static double next(struct generator *g)
{
    g->state ^= g->state << 13;
    g->state ^= g->state >> 7;
    g->state ^= g->state << 17;
    uint64_t bits = (g->state >> 12) | 0x3ff0000000000000;
    memcpy(&g->last, &bits, sizeof bits);
    return g->last - 1.0;
}

// One word after the other, all of them doubles between 1 and 2 in the end.
__attribute__((noinline)) static void fill(uint64_t *words, int n)
{
    uint64_t state = 88172645463325252;
    for (int i = 0; i < n; i++) {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        words[i] = state;
    }
}

__attribute__((noinline)) static void scale(uint64_t *words, int n)
{
    for (int i = 0; i < n; i++)
        words[i] = (words[i] >> 12) | 0x3ff0000000000000;
}

__attribute__((noinline)) static void step(struct value *v)
{
    v->is.count = v->is.count + 3;
}

static double by_tags(const double *x)
{
    struct value values[N];
    for (int i = 0; i < N; i++) {
        values[i].counts = i % 3 == 1;
        if (values[i].counts)
            values[i].is.count = i;
        else
            values[i].is.number = x[i] * x[(i + 1) % N];
    }
    double sum = 0.0;
    for (int i = 0; i < N; i++)
        if (values[i].counts)
            step(&values[i]);
    for (int i = 0; i < N; i++)
        sum += values[i].counts ? (double)values[i].is.count * x[i] : values[i].is.number;
    return sum;
}

static double objective(const double *x)
{
    struct generator g = {88172645463325252, 0.0};
    double random[TERMS], sum = 0.0;
    fill((uint64_t *)random, TERMS);
    scale((uint64_t *)random, TERMS);
    for (int i = 0; i < TERMS; i++) {
        double u = next(&g), model = x[0] + u * (x[1] + u * x[2]) + x[3] * sin(u * x[4]);
        sum += (model - random[i] * x[5]) * (model - random[i] * x[5]);
    }
    return sum + by_tags(x);
}

static double point[N] = {0.7, -1.1, 0.4, 1.3, 0.9, 1.6};

static void setup(void) {}

static double value(const double *x) { return objective(x); }

static double tangent(const double *x, const double *v)
{
    return __enzyme_fwddiff((void *)objective, enzyme_dup, x, v);
}

static void gradient(const double *x, double *g)
{
    corpus_zero(g, N);
    __enzyme_autodiff((void *)objective, enzyme_dup, x, g);
}

static const struct corpus_problem problem = {
    .name = "counts_among_numbers",
    .size = N,
    .point = point,
    .setup = setup,
    .value = value,
    .tangent = tangent,
    .gradient = gradient,
    .coordinates = CORPUS_ALL,
    .step = 1e-5,
    .fd_tolerance = 1e-7,
    .dot_tolerance = 1e-12,
};

CORPUS_MAIN(&problem)
