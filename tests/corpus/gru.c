// A gated recurrent unit that reads a string of characters: embedding lookup, gates, and a readout of the last state;
// layers are described by a struct of pointers into one flat parameter vector; hidden states are swapped by pointer.
// Source: Cho et al., EMNLP 2014, equations (5) to (8).
#include "corpus.h"

struct gru {
    int hidden, embedded;
    const double *embedding;
    const double *gates[3], *recurrent[3], *bias[3];
    const double *readout;
};

static const double *take(const double **cursor, int count)
{
    const double *start = *cursor;
    *cursor += count;
    return start;
}

static double sigmoid(double x)
{
    return 1.0 / (1.0 + exp(-x));
}

static double preactivation(const struct gru *g, int gate, int unit, const double *x, const double *h)
{
    double sum = g->bias[gate][unit];
    for (int j = 0; j < g->embedded; j++)
        sum += g->gates[gate][unit * g->embedded + j] * x[j];
    for (int j = 0; j < g->hidden; j++)
        sum += g->recurrent[gate][unit * g->hidden + j] * h[j];
    return sum;
}

static void step(const struct gru *g, const double *x, const double *h, double *next)
{
    double *reset = malloc(sizeof(double) * (size_t)g->hidden);
    for (int i = 0; i < g->hidden; i++)
        reset[i] = sigmoid(preactivation(g, 0, i, x, h)) * h[i];
    for (int i = 0; i < g->hidden; i++) {
        double z = sigmoid(preactivation(g, 1, i, x, h)), candidate = tanh(preactivation(g, 2, i, x, reset));
        next[i] = z * h[i] + (1.0 - z) * candidate;
    }
    free(reset);
}

static double text_loss(const double *parameters, int hidden, int embedded, const char *text, double label)
{
    struct gru g = {hidden, embedded, NULL, {NULL}, {NULL}, {NULL}, NULL};
    g.embedding = take(&parameters, 26 * embedded);
    for (int gate = 0; gate < 3; gate++) {
        g.gates[gate] = take(&parameters, hidden * embedded);
        g.recurrent[gate] = take(&parameters, hidden * hidden);
        g.bias[gate] = take(&parameters, hidden);
    }
    g.readout = take(&parameters, hidden);

    double *h = calloc((size_t)hidden, sizeof(double)), *next = calloc((size_t)hidden, sizeof(double)), score = 0.0;
    for (; *text; text++) {
        if (*text < 'a' || *text > 'z')
            continue;
        step(&g, g.embedding + (*text - 'a') * embedded, h, next);
        double *swap = h;
        h = next;
        next = swap;
    }
    for (int i = 0; i < hidden; i++)
        score += g.readout[i] * h[i];
    free(h);
    free(next);
    return log1p(exp(-label * score));
}

enum { HIDDEN = CORPUS_SIZE(6, 2), EMBEDDED = CORPUS_SIZE(4, 2) };
enum { SIZE = 26 * EMBEDDED + 3 * HIDDEN * (HIDDEN + EMBEDDED + 1) + HIDDEN };

static double point[SIZE];
static const char text[] = "the quick brown fox jumps over the lazy dog";

static void setup(void)
{
    corpus_seed(159);
    corpus_fill(point, SIZE, -0.8, 0.8);
}

static double value(const double *x)
{
    return text_loss(x, HIDDEN, EMBEDDED, text, 1.0);
}

static double tangent(const double *x, const double *v)
{
    return __enzyme_fwddiff((void *)text_loss, enzyme_dup, x, v, enzyme_const, HIDDEN, enzyme_const, EMBEDDED,
                            enzyme_const, text, enzyme_const, 1.0);
}

static void gradient(const double *x, double *g)
{
    corpus_zero(g, SIZE);
    __enzyme_autodiff((void *)text_loss, enzyme_dup, x, g, enzyme_const, HIDDEN, enzyme_const, EMBEDDED, enzyme_const,
                      text, enzyme_const, 1.0);
}

static const struct corpus_problem problem = {
    .name = "gru",
    .size = SIZE,
    .point = point,
    .setup = setup,
    .value = value,
    .tangent = tangent,
    .gradient = gradient,
};

CORPUS_MAIN(&problem)
