// Walks whose step, generator and sum are beside each other in one structure: the bits of the generator (xorshift64) become a number
// in [1, 2) by way of its exponent, in a function that knows of nothing else in the structure, while the step and the sum are
// differentiated. Two such numbers make a normal one (Box and Muller, Ann. Math. Stat. 29, 1958).
// At -O2 what the function reads was taken for the bits of a float, as floats lie around it, and refused.
#include "corpus.h"

#include <stdint.h>
#include <string.h>

enum { WALKS = CORPUS_SIZE(20, 4), STEPS = 12 };

struct walk {
    double step;
    uint64_t state;
    double sum;
};

__attribute__((noinline)) static double uniform(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    uint64_t bits = *state >> 12 | UINT64_C(0x3ff0000000000000);
    double u;
    memcpy(&u, &bits, sizeof u);
    return 2.0 - u;
}

__attribute__((noinline)) static double normal(struct walk *w)
{
    double u = uniform(&w->state), v = uniform(&w->state);
    return sqrt(-2.0 * log(u)) * cos(6.283185307179586 * v);
}

__attribute__((noinline)) static void advance(struct walk *w)
{
    w->sum += w->step * normal(w) * (1.0 + 0.1 * w->sum);
}

// x: step, start, strike.
static double payoff(const double *x)
{
    struct walk w = {x[0], 88172645463325252u, x[1]};
    double total = 0.0;
    for (int i = 0; i < WALKS; i++) {
        w.sum = x[1];
        for (int k = 0; k < STEPS; k++)
            advance(&w);
        total += log1p(exp(w.sum - x[2]));
    }
    return total / WALKS;
}

static double point[3] = {0.3, 1.0, 1.2};

static double tangent(const double *x, const double *v)
{
    return __enzyme_fwddiff((void *)payoff, enzyme_dup, x, v);
}

static void gradient(const double *x, double *g)
{
    corpus_zero(g, 3);
    __enzyme_autodiff((void *)payoff, enzyme_dup, x, g);
}

static const struct corpus_problem problem = {
    .name = "random_states",
    .size = 3,
    .point = point,
    .value = payoff,
    .tangent = tangent,
    .gradient = gradient,
    .coordinates = CORPUS_ALL,
};

CORPUS_MAIN(&problem)
