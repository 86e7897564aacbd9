// Gated units whose parameters are eight rows of an array for each layer, and whose state is two rows that may lie anywhere:
//
//   i = tanh(p_0 h + p_4);  f = p_1 c + p_5;  o = p_2 h + p_6;  g = p_3 c + p_7
//   c <- f c / 2 + i g;     h <- o tanh(c);   loss += h c
//
// with the state apart from the parameters, in a gap between two of their rows, onto one of them, and one element beside
// it: then each step changes parameters, and elements of one iteration are read by the next.
// Source: Gers, Schmidhuber, Cummins, "Learning to forget", Neural Computation 12 (2000), for the gates.
#include "corpus.h"

enum { N = CORPUS_SIZE(19, 9), LAYERS = 2, STEPS = CORPUS_SIZE(6, 2), ROWS = 12, SIZE = (ROWS * LAYERS + 2) * N };

// Rows 8 to 11 of each layer are no parameters.
__attribute__((noinline)) static double run(double *parameters, double *state, int n, int layers, int steps)
{
    double loss = 0.0;
    for (int t = 0; t < steps; t++)
        for (int layer = 0; layer < layers; layer++) {
            double *p = parameters + ROWS * n * layer, *c = state, *h = state + n;
            for (int j = 0; j < n; j++) {
                double in = tanh(p[j] * h[j] + p[4 * n + j]);
                double forget = p[n + j] * c[j] + p[5 * n + j];
                double out = p[2 * n + j] * h[j] + p[6 * n + j];
                double change = p[3 * n + j] * c[j] + p[7 * n + j];
                c[j] = 0.5 * forget * c[j] + in * change;
                h[j] = out * tanh(c[j]);
                loss += h[j] * c[j];
            }
        }
    return loss;
}

static double point[SIZE], work[SIZE], shadow[SIZE];

// Behind all parameters, in the gap after those of the first layer, onto rows 3 and 4, one element beside these.
static const int places[] = {ROWS * LAYERS * N, 9 * N, 3 * N, 3 * N + 1};

static void setup(void)
{
    corpus_seed(83);
    corpus_fill(point, SIZE, -0.7, 0.7);
}

static double value(const double *x)
{
    double total = 0.0;
    for (size_t i = 0; i < CORPUS_COUNT(places); i++) {
        corpus_copy(work, x, SIZE);
        total += run(work, work + places[i], N, LAYERS, STEPS);
    }
    return total;
}

static double tangent(const double *x, const double *v)
{
    double total = 0.0;
    for (size_t i = 0; i < CORPUS_COUNT(places); i++) {
        corpus_copy(work, x, SIZE);
        corpus_copy(shadow, v, SIZE);
        total += __enzyme_fwddiff((void *)run, enzyme_dup, work, shadow, enzyme_dup, work + places[i],
                                  shadow + places[i], enzyme_const, N, enzyme_const, LAYERS, enzyme_const, STEPS);
    }
    return total;
}

static void gradient(const double *x, double *g)
{
    corpus_zero(g, SIZE);
    for (size_t i = 0; i < CORPUS_COUNT(places); i++) {
        corpus_copy(work, x, SIZE);
        corpus_zero(shadow, SIZE);
        __enzyme_autodiff((void *)run, enzyme_dup, work, shadow, enzyme_dup, work + places[i], shadow + places[i],
                          enzyme_const, N, enzyme_const, LAYERS, enzyme_const, STEPS);
        for (int k = 0; k < SIZE; k++)
            g[k] += shadow[k];
    }
}

static const struct corpus_problem problem = {
    .name = "gates_in_rows",
    .size = SIZE,
    .point = point,
    .setup = setup,
    .value = value,
    .tangent = tangent,
    .gradient = gradient,
};

CORPUS_MAIN(&problem)
