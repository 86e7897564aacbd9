// One head of self-attention with a causal mask and residual connection, on a short sequence of embedded tokens:
// embedding lookup, projections, row softmax with triangular bounds, layer norm. Loss = next-token cross entropy with
// tied weights.
// Source: Vaswani et al., "Attention is all you need" (2017), section 3.2.1.
#include "corpus.h"

enum { VOCABULARY = 11, WIDTH = CORPUS_SIZE(8, 4), LENGTH = CORPUS_SIZE(12, 3) };
enum { SIZE = VOCABULARY * WIDTH + 3 * WIDTH * WIDTH + 2 * WIDTH };

struct parameters {
    double embedding[VOCABULARY][WIDTH];
    double query[WIDTH][WIDTH], key[WIDTH][WIDTH], value[WIDTH][WIDTH];
    double gain[WIDTH], shift[WIDTH];
};

static void apply(double m[WIDTH][WIDTH], const double *x, double *y)
{
    for (int i = 0; i < WIDTH; i++) {
        y[i] = 0.0;
        for (int j = 0; j < WIDTH; j++)
            y[i] += m[i][j] * x[j];
    }
}

static void layer_norm(const struct parameters *p, double *x)
{
    double mean = 0.0, variance = 0.0;
    for (int i = 0; i < WIDTH; i++)
        mean += x[i] / WIDTH;
    for (int i = 0; i < WIDTH; i++)
        variance += (x[i] - mean) * (x[i] - mean) / WIDTH;
    for (int i = 0; i < WIDTH; i++)
        x[i] = (x[i] - mean) / sqrt(variance + 1e-5) * p->gain[i] + p->shift[i];
}

static double cross_entropy(const struct parameters *p, const double *x, int token)
{
    double sum = 0.0, chosen = 0.0;
    for (int v = 0; v < VOCABULARY; v++) {
        double score = 0.0;
        for (int i = 0; i < WIDTH; i++)
            score += p->embedding[v][i] * x[i];
        sum += exp(score);
        if (v == token)
            chosen = score;
    }
    return log(sum) - chosen;
}

static double sequence_loss(struct parameters *p, const int *tokens, int length)
{
    double q[LENGTH][WIDTH], k[LENGTH][WIDTH], v[LENGTH][WIDTH], loss = 0.0;
    for (int t = 0; t < length; t++) {
        const double *x = p->embedding[tokens[t]];
        apply(p->query, x, q[t]);
        apply(p->key, x, k[t]);
        apply(p->value, x, v[t]);
    }
    for (int t = 0; t + 1 < length; t++) {
        double weights[LENGTH], out[WIDTH], sum = 0.0;
        for (int s = 0; s <= t; s++) {
            double score = 0.0;
            for (int i = 0; i < WIDTH; i++)
                score += q[t][i] * k[s][i];
            sum += weights[s] = exp(score / sqrt((double)WIDTH));
        }
        memcpy(out, p->embedding[tokens[t]], sizeof(out));
        for (int s = 0; s <= t; s++)
            for (int i = 0; i < WIDTH; i++)
                out[i] += weights[s] / sum * v[s][i];
        layer_norm(p, out);
        loss += cross_entropy(p, out, tokens[t + 1]);
    }
    return loss / length;
}

static double point[SIZE];
static int tokens[LENGTH];
static struct parameters params, shadow;

static void setup(void)
{
    corpus_seed(158);
    corpus_fill(point, SIZE, -0.7, 0.7);
    for (int t = 0; t < LENGTH; t++)
        tokens[t] = (5 * t * t + 3 * t) % VOCABULARY;
}

static void pack(struct parameters *to, const double *x)
{
    memcpy(to, x, sizeof(*to));
}

static void unpack(const struct parameters *from, double *g)
{
    memcpy(g, from, sizeof(*from));
}

static double value(const double *x)
{
    pack(&params, x);
    return sequence_loss(&params, tokens, LENGTH);
}

static double tangent(const double *x, const double *v)
{
    pack(&params, x);
    pack(&shadow, v);
    return __enzyme_fwddiff((void *)sequence_loss, enzyme_dup, &params, &shadow, enzyme_const, tokens, enzyme_const,
                            LENGTH);
}

static void gradient(const double *x, double *g)
{
    pack(&params, x);
    memset(&shadow, 0, sizeof(shadow));
    __enzyme_autodiff((void *)sequence_loss, enzyme_dup, &params, &shadow, enzyme_const, tokens, enzyme_const, LENGTH);
    unpack(&shadow, g);
}

static const struct corpus_problem problem = {
    .name = "attention",
    .size = SIZE,
    .point = point,
    .setup = setup,
    .value = value,
    .tangent = tangent,
    .gradient = gradient,
};

CORPUS_MAIN(&problem)
