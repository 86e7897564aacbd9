// Loss of a diagonal long short-term memory network that predicts a sequence, one character at a time:
//
//   f = s(x wf + bf), i = s(h wi + bi), o = s(x wo + bo), a = tanh(h wa + ba)      (per unit, s = logistic function)
//   c <- c f + i a,   h <- o tanh(c),   input of the next layer = h
//   y = h_last w_out + b_out,   loss = -sum_t sum_j x_{t+1,j} (y_tj - log(2 + sum_j exp y_tj)) / count
//
// State (h, c) is overwritten in place at every step.
// Source: Srajer, Kukelova, Fitzgibbon (2018), section 4.4 (see gmm.c).
//
// corpus: link O2
#include "corpus.h"

static double logistic(double x)
{
    return 1.0 / (1.0 + exp(-x));
}

static void lstm_layer(int b, const double *weights, const double *biases, double *hidden, double *cell,
                       const double *input)
{
    for (int j = 0; j < b; j++) {
        double forget = logistic(input[j] * weights[j] + biases[j]);
        double ingate = logistic(hidden[j] * weights[b + j] + biases[b + j]);
        double outgate = logistic(input[j] * weights[2 * b + j] + biases[2 * b + j]);
        double change = tanh(hidden[j] * weights[3 * b + j] + biases[3 * b + j]);
        cell[j] = cell[j] * forget + ingate * change;
        hidden[j] = outgate * tanh(cell[j]);
    }
}

static void lstm_predict(int layers, int b, const double *main_parameters, const double *extra_parameters,
                         double *state, const double *input, double *output)
{
    const double *layer_input = output;
    for (int j = 0; j < b; j++)
        output[j] = input[j] * extra_parameters[j];
    for (int layer = 0; layer < layers; layer++) {
        const double *weights = main_parameters + 8 * b * layer;
        double *hidden = state + 2 * b * layer;
        lstm_layer(b, weights, weights + 4 * b, hidden, hidden + b, layer_input);
        layer_input = hidden;
    }
    for (int j = 0; j < b; j++)
        output[j] = layer_input[j] * extra_parameters[b + j] + extra_parameters[2 * b + j];
}

static double lstm_objective(int layers, int steps, int b, const double *main_parameters,
                             const double *extra_parameters, double *state, const double *sequence)
{
    double total = 0.0;
    double *output = malloc(sizeof(double) * (size_t)b);
    for (int t = 0; t + 1 < steps; t++) {
        lstm_predict(layers, b, main_parameters, extra_parameters, state, sequence + t * b, output);
        double sum = 2.0;
        for (int j = 0; j < b; j++)
            sum += exp(output[j]);
        double log_sum = log(sum);
        for (int j = 0; j < b; j++)
            total += sequence[(t + 1) * b + j] * (output[j] - log_sum);
    }
    free(output);
    return -total / ((steps - 1) * b);
}

enum {
    LAYERS = 2,
    STEPS = CORPUS_SIZE(200, 5),
    B = CORPUS_SIZE(14, 3),
    EXTRA = 8 * B * LAYERS,
    STATE = EXTRA + 3 * B,
    SIZE = STATE + 2 * B * LAYERS
};

static double point[SIZE], sequence[STEPS * B];
static double state[2 * B * LAYERS], state_shadow[2 * B * LAYERS];

static void setup(void)
{
    corpus_seed(3);
    corpus_fill(point, SIZE, -1.0, 1.0);
    for (int i = 0; i < STEPS * B; i++)
        sequence[i] = corpus_uniform(0.0, 1.0) < 0.4 ? 1.0 : 0.0;
}

static double value(const double *x)
{
    corpus_copy(state, x + STATE, 2 * B * LAYERS);
    return lstm_objective(LAYERS, STEPS, B, x, x + EXTRA, state, sequence);
}

static double tangent(const double *x, const double *v)
{
    corpus_copy(state, x + STATE, 2 * B * LAYERS);
    corpus_copy(state_shadow, v + STATE, 2 * B * LAYERS);
    return __enzyme_fwddiff((void *)lstm_objective, enzyme_const, LAYERS, enzyme_const, STEPS, enzyme_const, B,
                            enzyme_dup, x, v, enzyme_dup, x + EXTRA, v + EXTRA, enzyme_dup, state, state_shadow,
                            enzyme_const, sequence);
}

static void gradient(const double *x, double *g)
{
    corpus_zero(g, SIZE);
    corpus_copy(state, x + STATE, 2 * B * LAYERS);
    __enzyme_autodiff((void *)lstm_objective, enzyme_const, LAYERS, enzyme_const, STEPS, enzyme_const, B, enzyme_dup,
                      x, g, enzyme_dup, x + EXTRA, g + EXTRA, enzyme_dup, state, g + STATE, enzyme_const, sequence);
}

static void gradient_plain(const double *x, double *g)
{
    corpus_zero(g, SIZE);
    corpus_copy(state, x + STATE, 2 * B * LAYERS);
    __enzyme_autodiff((void *)lstm_objective, LAYERS, STEPS, B, x, g, x + EXTRA, g + EXTRA, enzyme_dupnoneed, state,
                      g + STATE, enzyme_const, sequence);
}

// After the derivative the state holds what the primal leaves there.
static int extra(void)
{
    double expected[2 * B * LAYERS], g[SIZE], worst = 0.0;
    value(point);
    corpus_copy(expected, state, 2 * B * LAYERS);
    gradient(point, g);
    for (int i = 0; i < 2 * B * LAYERS; i++)
        worst = fmax(worst, corpus_relative(state[i], expected[i], 1e-3));
    return corpus_check("lstm", "final state after the gradient", worst, 1e-12);
}

static const struct corpus_problem problem = {
    .name = "lstm",
    .size = SIZE,
    .point = point,
    .setup = setup,
    .value = value,
    .tangent = tangent,
    .gradient = gradient,
    .variants = {{.name = "gradient without annotations", .gradient = gradient_plain}},
    .extra = extra,
};

CORPUS_MAIN(&problem)
