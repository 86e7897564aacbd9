// A convolutional layer, leaky ReLU, 2x2 max pooling with remembered positions, a dense layer and softmax cross
// entropy, in float with double accumulation; tensors are structs with shape and data pointer. Active: all weights.
// Source: Goodfellow, Bengio, Courville, "Deep Learning", chapter 9.
#include "corpus.h"

typedef struct {
    int channels, height, width;
    float *data;
} tensor;

static tensor tensor_new(int channels, int height, int width)
{
    tensor t = {channels, height, width, calloc((size_t)(channels * height * width), sizeof(float))};
    return t;
}

static float *at(const tensor *t, int c, int y, int x)
{
    return t->data + (c * t->height + y) * t->width + x;
}

static tensor convolve(const tensor *in, const float *kernels, int filters)
{
    tensor out = tensor_new(filters, in->height - 2, in->width - 2);
    for (int f = 0; f < filters; f++)
        for (int y = 0; y < out.height; y++)
            for (int x = 0; x < out.width; x++) {
                double sum = 0.0;
                for (int c = 0; c < in->channels; c++)
                    for (int k = 0; k < 9; k++)
                        sum += kernels[(f * in->channels + c) * 9 + k] * *at(in, c, y + k / 3, x + k % 3);
                *at(&out, f, y, x) = (float)(sum > 0.0 ? sum : 0.1 * sum);
            }
    return out;
}

static tensor pool(const tensor *in)
{
    tensor out = tensor_new(in->channels, in->height / 2, in->width / 2);
    for (int c = 0; c < out.channels; c++)
        for (int y = 0; y < out.height; y++)
            for (int x = 0; x < out.width; x++) {
                const float *best = at(in, c, 2 * y, 2 * x);
                for (int k = 1; k < 4; k++)
                    if (*at(in, c, 2 * y + k / 2, 2 * x + k % 2) > *best)
                        best = at(in, c, 2 * y + k / 2, 2 * x + k % 2);
                *at(&out, c, y, x) = *best;
            }
    return out;
}

enum { FILTERS = 3, SIDE = CORPUS_SIZE(10, 6), CLASSES = 4, IMAGES = CORPUS_SIZE(4, 1) };
enum { POOLED = FILTERS * ((SIDE - 2) / 2) * ((SIDE - 2) / 2), SIZE = FILTERS * 9 + CLASSES * POOLED };

static double network_loss(const float *weights, const float *images, const int *labels, int count)
{
    double loss = 0.0;
    for (int n = 0; n < count; n++) {
        tensor input = {1, SIDE, SIDE, (float *)images + n * SIDE * SIDE};
        tensor hidden = convolve(&input, weights, FILTERS), pooled = pool(&hidden);
        double scores[CLASSES], sum = 0.0;
        free(hidden.data);
        for (int c = 0; c < CLASSES; c++) {
            scores[c] = 0.0;
            for (int i = 0; i < POOLED; i++)
                scores[c] += weights[FILTERS * 9 + c * POOLED + i] * pooled.data[i];
            sum += exp(scores[c]);
        }
        loss += log(sum) - scores[labels[n]];
        free(pooled.data);
    }
    return loss;
}

static double point[SIZE];
static float weights[SIZE], shadow[SIZE], images[IMAGES * SIDE * SIDE];
static int labels[IMAGES];

static void setup(void)
{
    corpus_seed(157);
    corpus_fill(point, SIZE, -0.5, 0.5);
    for (int i = 0; i < IMAGES * SIDE * SIDE; i++)
        images[i] = (float)corpus_uniform(0.0, 1.0);
    for (int n = 0; n < IMAGES; n++)
        labels[n] = n % CLASSES;
}

static void to_float(float *to, const double *from)
{
    for (int i = 0; i < SIZE; i++)
        to[i] = (float)from[i];
}

static double value(const double *x)
{
    to_float(weights, x);
    return network_loss(weights, images, labels, IMAGES);
}

static double tangent(const double *x, const double *v)
{
    to_float(weights, x);
    to_float(shadow, v);
    return __enzyme_fwddiff((void *)network_loss, enzyme_dup, weights, shadow, enzyme_const, images, enzyme_const,
                            labels, enzyme_const, IMAGES);
}

static void gradient(const double *x, double *g)
{
    to_float(weights, x);
    memset(shadow, 0, sizeof(shadow));
    __enzyme_autodiff((void *)network_loss, enzyme_dup, weights, shadow, enzyme_const, images, enzyme_const, labels,
                      enzyme_const, IMAGES);
    for (int i = 0; i < SIZE; i++)
        g[i] = shadow[i];
}

static const struct corpus_problem problem = {
    .name = "conv_net",
    .size = SIZE,
    .point = point,
    .setup = setup,
    .value = value,
    .tangent = tangent,
    .gradient = gradient,
    .step = 1.0 / 256.0,   // few of the maxima change
    .fd_tolerance = 2e-2,  // rounding to float over such a step, and the maxima that do change
    .dot_tolerance = 1e-5, // adjoints are sums in float
};

CORPUS_MAIN(&problem)
