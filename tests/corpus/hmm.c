// A hidden Markov model: the scaled forward algorithm over a string of symbols, transition and emission tables made
// from logits by softmax into two-dimensional arrays inside a struct. Active: all logits. Loss = negative log-
// likelihood.
// Source: Rabiner, Proceedings of the IEEE 77 (1989), section V.A.
#include "corpus.h"

enum { STATES = 4, SYMBOLS = 5, LENGTH = CORPUS_SIZE(120, 8) };
enum { SIZE = STATES * (STATES + SYMBOLS + 1) };

struct hmm {
    int states, symbols;
    double start[STATES];
    double transition[STATES][STATES];
    double emission[STATES][SYMBOLS];
};

static void softmax(const double *logits, double *out, int n)
{
    double sum = 0.0;
    for (int i = 0; i < n; i++)
        sum += out[i] = exp(logits[i]);
    for (int i = 0; i < n; i++)
        out[i] /= sum;
}

static struct hmm *build(const double *logits)
{
    struct hmm *m = malloc(sizeof(struct hmm));
    m->states = STATES;
    m->symbols = SYMBOLS;
    softmax(logits, m->start, STATES);
    logits += STATES;
    for (int i = 0; i < STATES; i++, logits += STATES)
        softmax(logits, m->transition[i], STATES);
    for (int i = 0; i < STATES; i++, logits += SYMBOLS)
        softmax(logits, m->emission[i], SYMBOLS);
    return m;
}

static double negative_likelihood(const double *logits, const char *text)
{
    struct hmm *m = build(logits);
    double alpha[STATES], next[STATES], sum = 0.0;
    for (int t = 0; text[t] != '\0'; t++) {
        int symbol = text[t] - 'A';
        double scale = 0.0;
        for (int j = 0; j < m->states; j++) {
            double arrive = 0.0;
            if (t == 0)
                arrive = m->start[j];
            else
                for (int i = 0; i < m->states; i++)
                    arrive += alpha[i] * m->transition[i][j];
            next[j] = arrive * m->emission[j][symbol];
            scale += next[j];
        }
        for (int j = 0; j < m->states; j++)
            alpha[j] = next[j] / scale;
        sum -= log(scale);
    }
    free(m);
    return sum;
}

static double point[SIZE];
static char text[LENGTH + 1];

static void setup(void)
{
    corpus_seed(154);
    corpus_fill(point, SIZE, -1.0, 1.0);
    for (int t = 0; t < LENGTH; t++)
        text[t] = (char)('A' + (int)corpus_uniform(0.0, SYMBOLS));
    text[LENGTH] = '\0';
}

static double value(const double *x)
{
    return negative_likelihood(x, text);
}

static double tangent(const double *x, const double *v)
{
    return __enzyme_fwddiff((void *)negative_likelihood, enzyme_dup, x, v, enzyme_const, text);
}

static void gradient(const double *x, double *g)
{
    corpus_zero(g, SIZE);
    __enzyme_autodiff((void *)negative_likelihood, enzyme_dup, x, g, enzyme_const, text);
}

static const struct corpus_problem problem = {
    .name = "hmm",
    .size = SIZE,
    .point = point,
    .setup = setup,
    .value = value,
    .tangent = tangent,
    .gradient = gradient,
};

CORPUS_MAIN(&problem)
