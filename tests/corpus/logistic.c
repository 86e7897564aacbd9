// Multinomial logistic regression on sparse samples: each sample is a struct with a pointer into a pool of (index,
// value) pairs and a label; class scores live in a small array; L2 and a smoothed L1 penalty. Active: weights and
// biases.
// Source: Bishop, "Pattern Recognition and Machine Learning", section 4.3.4.
#include "corpus.h"

struct feature {
    int index;
    float value;
};

struct sample {
    const struct feature *features;
    short count;
    unsigned char label;
};

enum { CLASSES = 4, FEATURES = CORPUS_SIZE(30, 5), SAMPLES = CORPUS_SIZE(60, 4), POOL = 8 * SAMPLES };
enum { SIZE = CLASSES * (FEATURES + 1) };

static double sample_loss(const struct sample *sample, double weights[][FEATURES], const double *bias)
{
    double scores[CLASSES], largest = -HUGE_VAL, sum = 0.0;
    for (int c = 0; c < CLASSES; c++) {
        scores[c] = bias[c];
        for (const struct feature *f = sample->features; f < sample->features + sample->count; f++)
            scores[c] += weights[c][f->index] * f->value;
        largest = scores[c] > largest ? scores[c] : largest;
    }
    for (int c = 0; c < CLASSES; c++)
        sum += exp(scores[c] - largest);
    return largest + log(sum) - scores[sample->label];
}

static double regression_loss(const double *x, const struct sample *samples, int count)
{
    double weights[CLASSES][FEATURES], loss = 0.0;
    memcpy(weights, x, sizeof(weights));
    for (int i = 0; i < count; i++)
        loss += sample_loss(&samples[i], weights, x + CLASSES * FEATURES);
    for (int k = 0; k < CLASSES * FEATURES; k++)
        loss += 0.01 * x[k] * x[k] + 0.02 * sqrt(x[k] * x[k] + 1e-4);
    return loss;
}

static double point[SIZE];
static struct feature pool[POOL];
static struct sample samples[SAMPLES];

static void setup(void)
{
    corpus_seed(151);
    corpus_fill(point, SIZE, -1.0, 1.0);
    for (int k = 0; k < POOL; k++)
        pool[k] = (struct feature){(int)corpus_uniform(0.0, FEATURES), (float)corpus_uniform(-1.0, 1.0)};
    for (int i = 0; i < SAMPLES; i++)
        samples[i] = (struct sample){pool + 8 * i, (short)(3 + i % 6), (unsigned char)(i % CLASSES)};
}

static double value(const double *x)
{
    return regression_loss(x, samples, SAMPLES);
}

static double tangent(const double *x, const double *v)
{
    return __enzyme_fwddiff((void *)regression_loss, enzyme_dup, x, v, enzyme_const, samples, enzyme_const, SAMPLES);
}

static void gradient(const double *x, double *g)
{
    corpus_zero(g, SIZE);
    __enzyme_autodiff((void *)regression_loss, enzyme_dup, x, g, enzyme_const, samples, enzyme_const, SAMPLES);
}

static const struct corpus_problem problem = {
    .name = "logistic",
    .size = SIZE,
    .point = point,
    .setup = setup,
    .value = value,
    .tangent = tangent,
    .gradient = gradient,
};

CORPUS_MAIN(&problem)
