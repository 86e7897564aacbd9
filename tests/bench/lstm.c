// The diagonal long short-term memory of ADBench (the corpus program): 2 layers of 14 units, n time steps. By hand: of each
// step and layer h, c, tanh(c) and the gates are kept, so that no exponential is computed twice; the predictions are not.
#include "bench.h"

#include "../corpus/lstm.c"

enum { NET_LAYERS = 2, NET_B = 14, NET_EXTRA = 8 * NET_B * NET_LAYERS, NET_SIZE = NET_EXTRA + 3 * NET_B };

struct recurrent {
    struct bench_point point;
    int layers, b;
    double *sequence, *start, *state, *state_adjoint;
};

static void lstm_into(int layers, int steps, int b, const double *main_parameters, const double *extra_parameters,
                      double *cells, const double *characters, double *restrict result)
{
    *result = lstm_objective(layers, steps, b, main_parameters, extra_parameters, cells, characters);
}

BENCH_INLINE double adjoint(const struct recurrent *data, double *restrict g)
{
    int b = data->b, layers = data->layers, steps = data->point.size, width = 7 * b * layers;
    const double *restrict parameters = data->point.x, *restrict extra = parameters + 8 * b * layers;
    const double *restrict sequence = data->sequence;
    double *restrict extra_adjoint = g + 8 * b * layers;
    double scale = -1.0 / ((steps - 1) * b), total = 0.0;
    // By step and layer: h, c, tanh(c) and four gates; the first step is the state at the start. Then the adjoints of the
    // state, and two vectors that go from layer to layer.
    double *restrict states = (double *)malloc(sizeof(double) * (size_t)(steps * width + 2 * b * layers + 2 * b));
    double *restrict lambda = states + steps * width, *restrict output = lambda + 2 * b * layers;
    double *restrict down = output + b;

    for (int layer = 0; layer < layers; layer++)
        memcpy(states + 7 * b * layer, data->start + 2 * b * layer, sizeof(double) * (size_t)(2 * b));
    for (int t = 0; t + 1 < steps; t++) {
        const double *restrict now = states + t * width;
        double *restrict next = states + (t + 1) * width;
        const double *restrict wide = sequence + t * b;
        for (int j = 0; j < b; j++)
            output[j] = wide[j] * extra[j];
        for (int layer = 0; layer < layers; layer++) {
            const double *restrict w = parameters + 8 * b * layer, *restrict bias = w + 4 * b;
            const double *restrict hidden = now + 7 * b * layer, *restrict cell = hidden + b;
            double *restrict next_hidden = next + 7 * b * layer, *restrict next_cell = next_hidden + b;
            double *restrict kept = next_cell + b;
            for (int j = 0; j < b; j++) {
                double forget = logistic(output[j] * w[j] + bias[j]);
                double ingate = logistic(hidden[j] * w[b + j] + bias[b + j]);
                double outgate = logistic(output[j] * w[2 * b + j] + bias[2 * b + j]);
                double change = tanh(hidden[j] * w[3 * b + j] + bias[3 * b + j]);
                next_cell[j] = cell[j] * forget + ingate * change;
                kept[j] = tanh(next_cell[j]);
                next_hidden[j] = outgate * kept[j];
                kept[b + j] = forget;
                kept[2 * b + j] = ingate;
                kept[3 * b + j] = outgate;
                kept[4 * b + j] = change;
                output[j] = next_hidden[j];
            }
        }
    }

    memset(lambda, 0, sizeof(double) * (size_t)(2 * b * layers));
    for (int t = steps - 2; t >= 0; t--) {
        const double *restrict now = states + t * width, *restrict after = now + width;
        const double *restrict last = after + 7 * b * (layers - 1), *restrict truth = sequence + (t + 1) * b;
        double sum = 2.0, truths = 0.0;
        for (int j = 0; j < b; j++) {
            output[j] = last[j] * extra[b + j] + extra[2 * b + j];
            down[j] = exp(output[j]);
            sum += down[j];
            truths += truth[j];
        }
        double log_sum = log(sum), share = truths / sum;
        for (int j = 0; j < b; j++) {
            total += truth[j] * (output[j] - log_sum);
            double slope = scale * (truth[j] - share * down[j]);
            extra_adjoint[b + j] += slope * last[j];
            extra_adjoint[2 * b + j] += slope;
            down[j] = slope * extra[b + j];
        }
        for (int layer = layers - 1; layer >= 0; layer--) {
            const double *restrict w = parameters + 8 * b * layer;
            double *restrict w_adjoint = g + 8 * b * layer, *restrict bias_adjoint = w_adjoint + 4 * b;
            const double *restrict hidden = now + 7 * b * layer, *restrict cell = hidden + b;
            const double *restrict kept = after + 7 * b * layer + 2 * b;
            double *restrict hidden_adjoint = lambda + 2 * b * layer, *restrict cell_adjoint = hidden_adjoint + b;
            const double *restrict below = layer ? after + 7 * b * (layer - 1) : NULL;
            for (int j = 0; j < b; j++) {
                double input = below ? below[j] : sequence[t * b + j] * extra[j];
                double squashed = kept[j], forget = kept[b + j], ingate = kept[2 * b + j];
                double outgate = kept[3 * b + j], change = kept[4 * b + j];
                double h = hidden_adjoint[j] + down[j];
                double c = cell_adjoint[j] + h * outgate * (1.0 - squashed * squashed);
                double for_forget = c * cell[j] * forget * (1.0 - forget);
                double for_ingate = c * change * ingate * (1.0 - ingate);
                double for_outgate = h * squashed * outgate * (1.0 - outgate);
                double for_change = c * ingate * (1.0 - change * change);
                w_adjoint[j] += for_forget * input;
                w_adjoint[b + j] += for_ingate * hidden[j];
                w_adjoint[2 * b + j] += for_outgate * input;
                w_adjoint[3 * b + j] += for_change * hidden[j];
                bias_adjoint[j] += for_forget;
                bias_adjoint[b + j] += for_ingate;
                bias_adjoint[2 * b + j] += for_outgate;
                bias_adjoint[3 * b + j] += for_change;
                cell_adjoint[j] = c * forget;
                hidden_adjoint[j] = for_ingate * w[b + j] + for_change * w[3 * b + j];
                down[j] = for_forget * w[j] + for_outgate * w[2 * b + j];
            }
        }
        for (int j = 0; j < b; j++)
            extra_adjoint[j] += down[j] * sequence[t * b + j];
    }
    free(states);
    return scale * total;
}

static struct bench_point *bench_setup(int steps)
{
    struct recurrent *data = BENCH_NEW(struct recurrent, 1);
    size_t width = 2 * NET_B * NET_LAYERS;
    data->point = (struct bench_point){steps, NET_SIZE, BENCH_NEW(double, NET_SIZE)};
    data->layers = NET_LAYERS;
    data->b = NET_B;
    data->sequence = BENCH_NEW(double, steps *NET_B);
    data->start = BENCH_NEW(double, width);
    data->state = BENCH_NEW(double, width);
    data->state_adjoint = BENCH_NEW(double, width);
    corpus_seed(107);
    corpus_fill(data->point.x, NET_SIZE, -1.0, 1.0);
    corpus_fill(data->start, width, -1.0, 1.0);
    for (int i = 0; i < steps * NET_B; i++)
        data->sequence[i] = corpus_uniform(0.0, 1.0) < 0.4 ? 1.0 : 0.0;
    return &data->point;
}

static double bench_primal(struct bench_point *point)
{
    struct recurrent *data = (struct recurrent *)point;
    corpus_copy(data->state, data->start, 2 * NET_B * NET_LAYERS);
    return lstm_objective(data->layers, point->size, data->b, point->x, point->x + NET_EXTRA, data->state,
                          data->sequence);
}

static void bench_gradient(struct bench_point *point, double *g)
{
    struct recurrent *data = (struct recurrent *)point;
    memset(g, 0, sizeof(double) * point->count);
    corpus_copy(data->state, data->start, 2 * NET_B * NET_LAYERS);
    corpus_zero(data->state_adjoint, 2 * NET_B * NET_LAYERS);
    __enzyme_autodiff_void((void *)lstm_objective, enzyme_const, data->layers, enzyme_const, point->size, enzyme_const,
                           data->b, enzyme_dup, point->x, g, enzyme_dup, point->x + NET_EXTRA, g + NET_EXTRA,
                           enzyme_dup, data->state, data->state_adjoint, enzyme_const, data->sequence);
}

static double bench_value_gradient(struct bench_point *point, double *g)
{
    struct recurrent *data = (struct recurrent *)point;
    double result = 0.0, seed = 1.0;
    memset(g, 0, sizeof(double) * point->count);
    corpus_copy(data->state, data->start, 2 * NET_B * NET_LAYERS);
    corpus_zero(data->state_adjoint, 2 * NET_B * NET_LAYERS);
    __enzyme_autodiff_void((void *)lstm_into, enzyme_const, data->layers, enzyme_const, point->size, enzyme_const,
                           data->b, enzyme_dup, point->x, g, enzyme_dup, point->x + NET_EXTRA, g + NET_EXTRA,
                           enzyme_dup, data->state, data->state_adjoint, enzyme_const, data->sequence, enzyme_dup,
                           &result, &seed);
    return result;
}

BENCH_HAND(struct recurrent, adjoint)

static size_t bench_kept(int steps)
{
    return sizeof(double) * (size_t)steps * 7 * NET_B * NET_LAYERS; // states, gates, tanh(c)
}

static void bench_inputs(const struct bench_point *point, struct bench_input *inputs)
{
    const struct recurrent *data = (const struct recurrent *)point;
    inputs[0] = BENCH_REALS("sequence", data->sequence, point->size * data->b);
    inputs[1] = BENCH_REALS("start", data->start, 2 * data->b * data->layers);
    inputs[2] = BENCH_INTEGERS("layers", &data->layers, 1);
    inputs[3] = BENCH_INTEGERS("b", &data->b, 1);
}

const struct bench_kernel BENCH_NAME(BENCH_COLUMN) = {
    .name = "lstm",
    .small = 8,
    .normal = 1000,
    .sweep = {100, 300, 1000, 3000},
    BENCH_FUNCTIONS,
    .inputs = bench_inputs,
    .kept = bench_kept,
};
