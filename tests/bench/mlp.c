// The network of the corpus program with widths 64, 64, 128, 10 on a batch. By hand: each sample goes forward and back before
// the next one, so only one sample's activations are kept; the updates of the weights and of the adjoints run along rows.
#include "bench.h"

#include "../corpus/mlp.c"

enum { NET_LAYERS = 3, NET_SIZE = 64 * 65 + 128 * 65 + 10 * 129 };

static const int net_layers = NET_LAYERS;
static const int net_widths[NET_LAYERS + 1] = {64, 64, 128, 10};

struct network {
    struct bench_point point;
    double *inputs;
    int *labels;
    int widths[NET_LAYERS + 1];
};

static void training_loss_into(const double *parameters, const int *layer_widths, int layers, const double *samples,
                               const int *classes, int batch, double weight_decay, double *restrict result)
{
    *result = training_loss(parameters, layer_widths, layers, samples, classes, batch, weight_decay);
}

// Adds the adjoints of weights, biases and (if asked for) inputs of one layer.
BENCH_INLINE void hand_dense(const double *restrict weights, const double *restrict input,
                             const double *restrict output_adjoint, double *restrict weights_adjoint,
                             double *restrict biases_adjoint, double *restrict input_adjoint, int inputs, int outputs)
{
    for (int i = 0; i < outputs; i++) {
        double slope = output_adjoint[i];
        biases_adjoint[i] += slope;
        for (int j = 0; j < inputs; j++)
            weights_adjoint[i * inputs + j] += slope * input[j];
    }
    if (!input_adjoint)
        return;
    memset(input_adjoint, 0, sizeof(double) * (size_t)inputs);
    for (int i = 0; i < outputs; i++)
        for (int j = 0; j < inputs; j++)
            input_adjoint[j] += output_adjoint[i] * weights[i * inputs + j];
}

BENCH_INLINE double adjoint(const struct network *data, double *restrict g)
{
    const double *restrict parameters = data->point.x;
    const int *widest = data->widths;
    double loss = 0.0, squares = 0.0, share = 1.0 / data->point.size;
    int layers = NET_LAYERS, classes = widest[layers];
    for (int sample = 0; sample < data->point.size; sample++) {
        double activations[NET_LAYERS][WIDEST], adjoints[2][WIDEST];
        const double *input = data->inputs + sample * widest[0], *layer = parameters;
        for (int l = 0; l < layers; l++) {
            int columns = widest[l], rows = widest[l + 1];
            dense(layer, layer + rows * columns, l ? activations[l - 1] : input, activations[l], columns, rows,
                  l == layers - 1);
            layer += rows * (columns + 1);
        }
        double *logits = activations[layers - 1], largest = logits[0], sum = 0.0, *slopes = adjoints[0];
        int label = data->labels[sample];
        for (int i = 1; i < classes; i++)
            largest = fmax(largest, logits[i]);
        for (int i = 0; i < classes; i++) {
            slopes[i] = exp(logits[i] - largest);
            sum += slopes[i];
        }
        loss += largest + log(sum) - logits[label];
        for (int i = 0; i < classes; i++)
            slopes[i] *= share / sum;
        slopes[label] -= share;
        for (int l = layers - 1; l >= 0; l--) {
            int columns = widest[l], rows = widest[l + 1];
            layer -= rows * (columns + 1);
            double *layer_adjoint = g + (layer - parameters), *next = l ? adjoints[(layers - l) & 1] : NULL;
            hand_dense(layer, l ? activations[l - 1] : input, slopes, layer_adjoint, layer_adjoint + rows * columns,
                       next, columns, rows);
            if (l)
                for (int j = 0; j < columns; j++)
                    next[j] *= 1.0 - activations[l - 1][j] * activations[l - 1][j];
            slopes = next;
        }
    }
    for (size_t i = 0; i < data->point.count; i++) {
        squares += parameters[i] * parameters[i];
        g[i] += decay * parameters[i];
    }
    return loss / data->point.size + 0.5 * decay * squares;
}

static struct bench_point *bench_setup(int batch)
{
    struct network *data = BENCH_NEW(struct network, 1);
    data->point = (struct bench_point){batch, NET_SIZE, BENCH_NEW(double, NET_SIZE)};
    data->inputs = BENCH_NEW(double, batch * 64);
    data->labels = BENCH_NEW(int, batch);
    memcpy(data->widths, net_widths, sizeof(net_widths));
    corpus_seed(104);
    corpus_fill(data->point.x, NET_SIZE, -0.2, 0.2);
    corpus_fill(data->inputs, (size_t)(batch * 64), -1.0, 1.0);
    for (int sample = 0; sample < batch; sample++)
        data->labels[sample] = (7 * sample + 3) % 10;
    return &data->point;
}

static double bench_primal(struct bench_point *point)
{
    struct network *data = (struct network *)point;
    return training_loss(point->x, data->widths, NET_LAYERS, data->inputs, data->labels, point->size, decay);
}

static void bench_gradient(struct bench_point *point, double *g)
{
    struct network *data = (struct network *)point;
    memset(g, 0, sizeof(double) * point->count);
    __enzyme_autodiff_void((void *)training_loss, enzyme_dup, point->x, g, enzyme_const, data->widths, enzyme_const,
                           NET_LAYERS, enzyme_const, data->inputs, enzyme_const, data->labels, enzyme_const,
                           point->size, enzyme_const, decay);
}

static double bench_value_gradient(struct bench_point *point, double *g)
{
    struct network *data = (struct network *)point;
    double result = 0.0, seed = 1.0;
    memset(g, 0, sizeof(double) * point->count);
    __enzyme_autodiff_void((void *)training_loss_into, enzyme_dup, point->x, g, enzyme_const, data->widths,
                           enzyme_const, NET_LAYERS, enzyme_const, data->inputs, enzyme_const, data->labels,
                           enzyme_const, point->size, enzyme_const, decay, enzyme_dup, &result, &seed);
    return result;
}

BENCH_HAND(struct network, adjoint)

static size_t bench_kept(int batch)
{
    return sizeof(double) * (64 + 128 + 10) * (size_t)batch; // the activations
}

static void bench_inputs(const struct bench_point *point, struct bench_input *inputs)
{
    const struct network *data = (const struct network *)point;
    inputs[0] = BENCH_REALS("samples", data->inputs, point->size * data->widths[0]);
    inputs[1] = BENCH_INTEGERS("labels", data->labels, point->size);
    inputs[2] = BENCH_INTEGERS("widths", data->widths, NET_LAYERS + 1);
    inputs[3] = BENCH_INTEGERS("layers", &net_layers, 1);
    inputs[4] = BENCH_REALS("decay", &decay, 1);
}

const struct bench_kernel BENCH_NAME(BENCH_COLUMN) = {
    .name = "mlp",
    .small = 2,
    .normal = 44,
    .sweep = {4, 16, 64, 256},
    BENCH_FUNCTIONS,
    .inputs = bench_inputs,
    .kept = bench_kept,
};
