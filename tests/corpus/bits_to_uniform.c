// corpus: valgrind
// A price by simulation that keeps each path's state and its random number in one place: a union, whose bits come from a
// generator (xorshift64*) and become a number in [1, 2) by way of its exponent; and helpers that return tables of which
// one is not read. What the derivative keeps of the state must go when the bits take its place.
//
// Source of the generator: Vigna, "An experimental exploration of Marsaglia's xorshift generators, scrambled", ACM TOMS 42, 2016.
#include "corpus.h"

#include <stdint.h>

enum { PATHS = CORPUS_SIZE(40, 8), STEPS = 5 };

union cell {
    double number;
    uint64_t bits;
};

static uint64_t next_bits(uint64_t *state)
{
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return *state * 2685821657736338717u;
}

__attribute__((noinline)) static double *volatilities(int kind, double level)
{
    double *table = malloc(STEPS * sizeof(double));
    for (int k = 0; k < STEPS; k++)
        table[k] = level * (kind ? 1.0 + 0.1 * k : exp(-0.2 * k));
    return table;
}

// x: spot, rate, volatility, strike.
static double price(const double *x)
{
    union cell *cells = malloc(PATHS * sizeof(union cell));
    uint64_t state = 88172645463325252u;
    double total = 0.0, step = 1.0 / STEPS;
    double *falling = volatilities(0, x[2]), *rising = volatilities(1, x[2] + x[1]);
    for (int i = 0; i < PATHS; i++) {
        cells[i].number = x[0] * (1.0 + 0.01 * i);
        double s = cells[i].number;
        for (int k = 0; k < STEPS; k++) {
            cells[i].bits = next_bits(&state) >> 12 | UINT64_C(0x3ff0000000000000);
            double u = cells[i].number - 1.5;
            s *= exp((x[1] - 0.5 * falling[k] * falling[k]) * step + falling[k] * sqrt(12.0 * step) * u);
        }
        total += log1p(exp(s - x[3])) * exp(-x[1]);
    }
    free(falling);
    free(rising);
    free(cells);
    return total / PATHS;
}

static double point[4] = {1.0, 0.05, 0.3, 1.1};

static double tangent(const double *x, const double *v)
{
    return __enzyme_fwddiff((void *)price, enzyme_dup, x, v);
}

static void gradient(const double *x, double *g)
{
    corpus_zero(g, 4);
    __enzyme_autodiff((void *)price, enzyme_dup, x, g);
}

static const struct corpus_problem problem = {
    .name = "bits_to_uniform",
    .size = 4,
    .point = point,
    .value = price,
    .tangent = tangent,
    .gradient = gradient,
    .coordinates = CORPUS_ALL,
};

CORPUS_MAIN(&problem)
