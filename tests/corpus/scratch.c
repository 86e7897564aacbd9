// Heap memory that lives shorter than the derivative needs it: buffers allocated and freed in every iteration of a loop,
// of a size which changes from one iteration to the next (zero included), filled by memset and memcpy, and buffers that
// survive from one iteration to the next.
//
//   s_0 = x, s_{k+1} = smooth(s_k) + its own second half / 10, loss = sum_k |tail of s_k|^2
#include "corpus.h"

static void smooth(double *values, int n)
{
    double *old = malloc(sizeof(double) * (size_t)n);
    memcpy(old, values, sizeof(double) * (size_t)n);
    for (int i = 1; i + 1 < n; i++)
        values[i] = 0.25 * old[i - 1] + 0.5 * old[i] + 0.25 * old[i + 1] * old[i];
    free(old);
}

static double tail_energy(const double *values, int n, int tail)
{
    double *kept = calloc((size_t)tail + 1, sizeof(double));
    double energy = 0.0;
    memcpy(kept, values + n - tail, sizeof(double) * (size_t)tail);
    for (int i = 0; i < tail; i++)
        kept[i + 1] += sin(kept[i]);
    for (int i = 0; i <= tail; i++)
        energy += kept[i] * kept[i];
    free(kept);
    return energy;
}

static double scratch_loss(const double *x, int n, int rounds)
{
    double *state = malloc(sizeof(double) * (size_t)n);
    double *history = calloc((size_t)rounds, sizeof(double));
    double loss = 0.0;
    memcpy(state, x, sizeof(double) * (size_t)n);
    for (int round = 0; round < rounds; round++) {
        double *spare = malloc(sizeof(double) * (size_t)n);
        memset(spare, 0, sizeof(double) * (size_t)n);
        smooth(state, n);
        memcpy(spare, state + n / 2, sizeof(double) * (size_t)(n - n / 2));
        for (int i = 0; i < n; i++)
            state[i] += 0.1 * spare[i];
        free(spare);
        history[round] = tail_energy(state, n, (3 * round) % n);
    }
    for (int round = 0; round < rounds; round++)
        loss += history[round] * history[round] / (1 + round);
    free(history);
    free(state);
    return loss;
}

enum { SIZE = CORPUS_SIZE(60, 6), ROUNDS = CORPUS_SIZE(25, 4) };

static double point[SIZE];

static void setup(void)
{
    corpus_seed(24);
    corpus_fill(point, SIZE, -0.5, 0.5);
}

static double value(const double *x)
{
    return scratch_loss(x, SIZE, ROUNDS);
}

static double tangent(const double *x, const double *v)
{
    return __enzyme_fwddiff((void *)scratch_loss, enzyme_dup, x, v, enzyme_const, SIZE, enzyme_const, ROUNDS);
}

static void gradient(const double *x, double *g)
{
    corpus_zero(g, SIZE);
    __enzyme_autodiff((void *)scratch_loss, enzyme_dup, x, g, enzyme_const, SIZE, enzyme_const, ROUNDS);
}

static void gradient_plain(const double *x, double *g)
{
    corpus_zero(g, SIZE);
    __enzyme_autodiff((void *)scratch_loss, x, g, SIZE, ROUNDS);
}

static const struct corpus_problem problem = {
    .name = "scratch",
    .size = SIZE,
    .point = point,
    .setup = setup,
    .value = value,
    .tangent = tangent,
    .gradient = gradient,
    .variants = {{.name = "gradient without annotations", .gradient = gradient_plain}},
};

CORPUS_MAIN(&problem)
