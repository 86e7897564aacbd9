// A dense network with tanh layers and a softmax cross-entropy loss over a batch, plus weight decay:
//
//   h_0 = input, h_l = tanh(W_l h_{l-1} + b_l), logits = W_L h_{L-1} + b_L
//   loss = mean over the batch of log sum exp(logits) - logits_label, + decay |parameters|^2 / 2
//
// Layers share two activation buffers, used in turn.
// Source: Bishop, "Pattern Recognition and Machine Learning", chapter 5.
//
// corpus: link O2
#include "corpus.h"

enum { WIDEST = 128 };

static void dense(const double *weights, const double *biases, const double *input, double *output, int inputs,
                  int outputs, int last)
{
    for (int i = 0; i < outputs; i++) {
        double sum = biases[i];
        for (int j = 0; j < inputs; j++)
            sum += weights[i * inputs + j] * input[j];
        output[i] = last ? sum : tanh(sum);
    }
}

static double cross_entropy(const double *logits, int classes, int label)
{
    double largest = logits[0], sum = 0.0;
    for (int i = 1; i < classes; i++)
        largest = fmax(largest, logits[i]);
    for (int i = 0; i < classes; i++)
        sum += exp(logits[i] - largest);
    return largest + log(sum) - logits[label];
}

static double training_loss(const double *parameters, const int *widths, int layers, const double *inputs,
                            const int *labels, int batch, double decay)
{
    double loss = 0.0, squares = 0.0;
    int total = 0;
    for (int sample = 0; sample < batch; sample++) {
        double buffers[2][WIDEST];
        const double *activation = inputs + sample * widths[0], *layer = parameters;
        for (int l = 0; l < layers; l++) {
            double *next = buffers[l & 1];
            int columns = widths[l], rows = widths[l + 1];
            dense(layer, layer + rows * columns, activation, next, columns, rows, l == layers - 1);
            activation = next;
            layer += rows * (columns + 1);
        }
        loss += cross_entropy(activation, widths[layers], labels[sample]);
    }
    for (int l = 0; l < layers; l++)
        total += widths[l + 1] * (widths[l] + 1);
    for (int i = 0; i < total; i++)
        squares += parameters[i] * parameters[i];
    return loss / batch + 0.5 * decay * squares;
}

enum {
    IN = CORPUS_SIZE(20, 3),
    HIDDEN = CORPUS_SIZE(24, 4),
    OUT = CORPUS_SIZE(6, 2),
    BATCH = CORPUS_SIZE(32, 3),
    SIZE = HIDDEN * (IN + 1) + HIDDEN * (HIDDEN + 1) + OUT * (HIDDEN + 1)
};

static const int widths[4] = {IN, HIDDEN, HIDDEN, OUT};
static const double decay = 1e-3;
static double point[SIZE], inputs[BATCH * IN];
static int labels[BATCH];

static void setup(void)
{
    corpus_seed(22);
    corpus_fill(point, SIZE, -0.4, 0.4);
    corpus_fill(inputs, BATCH * IN, -1.0, 1.0);
    for (int sample = 0; sample < BATCH; sample++)
        labels[sample] = (5 * sample + 1) % OUT;
}

static double value(const double *x)
{
    return training_loss(x, widths, 3, inputs, labels, BATCH, decay);
}

static double tangent(const double *x, const double *v)
{
    return __enzyme_fwddiff((void *)training_loss, enzyme_dup, x, v, enzyme_const, widths, enzyme_const, 3, enzyme_const,
                            inputs, enzyme_const, labels, enzyme_const, BATCH, enzyme_const, decay);
}

static void gradient(const double *x, double *g)
{
    corpus_zero(g, SIZE);
    __enzyme_autodiff((void *)training_loss, enzyme_dup, x, g, enzyme_const, widths, enzyme_const, 3, enzyme_const,
                      inputs, enzyme_const, labels, enzyme_const, BATCH, enzyme_const, decay);
}

// Thirty steps of gradient descent must lower the loss.
static int extra(void)
{
    double *x = corpus_vector(SIZE), *g = corpus_vector(SIZE);
    corpus_copy(x, point, SIZE);
    for (int step = 0; step < 30; step++) {
        gradient(x, g);
        for (int i = 0; i < SIZE; i++)
            x[i] -= 0.3 * g[i];
    }
    double after = value(x) / value(point);
    free(x);
    free(g);
    return corpus_check("mlp", "loss after training over loss before", after, 0.9);
}

static const struct corpus_problem problem = {
    .name = "mlp",
    .size = SIZE,
    .point = point,
    .setup = setup,
    .value = value,
    .tangent = tangent,
    .gradient = gradient,
    .extra = extra,
};

CORPUS_MAIN(&problem)
