// Loss of a long short-term memory layer with full matrices: n steps, 16 inputs, 32 units,
//
//   z = W x_t + U h + b,  (i, f, o, a) = (s(z_0), s(z_1), s(z_2), tanh(z_3)),  c <- f c + i a,  h <- o tanh(c)
//
// and loss = sum_t |h_t - y_t|^2 / 2, the state overwritten at every step. By hand: h, c, tanh(c) and the gates of each step are kept, so
// that neither products nor exponentials are computed twice; the updates run along the rows of W and U.
// Source: Hochreiter, Schmidhuber, "Long short-term memory", Neural Computation 9 (1997); Gers et al. (2000) for the forget gate.
#include "bench.h"

enum { INPUTS = 16, UNITS = 32, GATES = 4 * UNITS, ROW = INPUTS + UNITS + 1, NET_SIZE = GATES * ROW };

struct recurrent {
    struct bench_point point;
    int inputs, units;
    double *sequence, *targets;
};

static double logistic(double x)
{
    return 1.0 / (1.0 + exp(-x));
}

// A row of `weights`: inputs, then units, then the bias.
static double lstm_loss(const double *weights, const double *sequence, const double *targets, int inputs, int units,
                        int steps)
{
    int row = inputs + units + 1;
    double *hidden = (double *)calloc((size_t)(6 * units), sizeof(double));
    double *cell = hidden + units, *gates = cell + units, loss = 0.0;
    for (int t = 0; t < steps; t++) {
        const double *x = sequence + t * inputs;
        for (int g = 0; g < 4 * units; g++) {
            const double *w = weights + g * row;
            double sum = w[inputs + units];
            for (int j = 0; j < inputs; j++)
                sum += w[j] * x[j];
            for (int j = 0; j < units; j++)
                sum += w[inputs + j] * hidden[j];
            gates[g] = sum;
        }
        for (int j = 0; j < units; j++) {
            double ingate = logistic(gates[j]), forget = logistic(gates[units + j]);
            double outgate = logistic(gates[2 * units + j]), change = tanh(gates[3 * units + j]);
            cell[j] = forget * cell[j] + ingate * change;
            hidden[j] = outgate * tanh(cell[j]);
            double error = hidden[j] - targets[t * units + j];
            loss += 0.5 * error * error;
        }
    }
    free(hidden);
    return loss;
}

static void lstm_loss_into(const double *weights, const double *sequence, const double *targets, int inputs, int units,
                           int steps, double *restrict result)
{
    *result = lstm_loss(weights, sequence, targets, inputs, units, steps);
}

BENCH_INLINE double adjoint(const struct recurrent *data, double *restrict g)
{
    const double *restrict weights = data->point.x;
    int inputs = data->inputs, units = data->units, steps = data->point.size, row = inputs + units + 1;
    // By step: h, c, four gates, tanh(c); one step more in front, the zero state.
    double *restrict tape = (double *)malloc(sizeof(double) * (size_t)((steps + 1) * 7 * units + 6 * units));
    double *restrict hidden_adjoint = tape + (steps + 1) * 7 * units, *restrict cell_adjoint = hidden_adjoint + units;
    double *restrict slopes = cell_adjoint + units, loss = 0.0;
    memset(tape, 0, sizeof(double) * (size_t)(7 * units));
    for (int t = 0; t < steps; t++) {
        const double *restrict before = tape + t * 7 * units, *restrict x = data->sequence + t * inputs;
        double *restrict now = tape + (t + 1) * 7 * units, *restrict gates = now + 2 * units;
        for (int k = 0; k < 4 * units; k++) {
            const double *restrict w = weights + k * row;
            double sum = w[inputs + units];
            for (int j = 0; j < inputs; j++)
                sum += w[j] * x[j];
            for (int j = 0; j < units; j++)
                sum += w[inputs + j] * before[j];
            gates[k] = sum;
        }
        for (int j = 0; j < 3 * units; j++)
            gates[j] = logistic(gates[j]);
        for (int j = 0; j < units; j++) {
            gates[3 * units + j] = tanh(gates[3 * units + j]);
            now[units + j] = gates[units + j] * before[units + j] + gates[j] * gates[3 * units + j];
            gates[4 * units + j] = tanh(now[units + j]);
            now[j] = gates[2 * units + j] * gates[4 * units + j];
            double error = now[j] - data->targets[t * units + j];
            loss += 0.5 * error * error;
        }
    }
    memset(hidden_adjoint, 0, sizeof(double) * (size_t)(2 * units));
    for (int t = steps - 1; t >= 0; t--) {
        const double *restrict before = tape + t * 7 * units, *restrict now = before + 7 * units;
        const double *restrict gates = now + 2 * units, *restrict x = data->sequence + t * inputs;
        for (int j = 0; j < units; j++) {
            double ingate = gates[j], forget = gates[units + j], outgate = gates[2 * units + j];
            double change = gates[3 * units + j], squashed = gates[4 * units + j];
            double h = hidden_adjoint[j] + now[j] - data->targets[t * units + j];
            double c = cell_adjoint[j] + h * outgate * (1.0 - squashed * squashed);
            slopes[j] = c * change * ingate * (1.0 - ingate);
            slopes[units + j] = c * before[units + j] * forget * (1.0 - forget);
            slopes[2 * units + j] = h * squashed * outgate * (1.0 - outgate);
            slopes[3 * units + j] = c * ingate * (1.0 - change * change);
            cell_adjoint[j] = c * forget;
            hidden_adjoint[j] = 0.0;
        }
        for (int k = 0; k < 4 * units; k++) {
            const double *restrict w = weights + k * row;
            double *restrict w_adjoint = g + k * row, slope = slopes[k];
            for (int j = 0; j < inputs; j++)
                w_adjoint[j] += slope * x[j];
            for (int j = 0; j < units; j++) {
                w_adjoint[inputs + j] += slope * before[j];
                hidden_adjoint[j] += slope * w[inputs + j];
            }
            w_adjoint[inputs + units] += slope;
        }
    }
    free(tape);
    return loss;
}

static struct bench_point *bench_setup(int steps)
{
    struct recurrent *data = BENCH_NEW(struct recurrent, 1);
    data->point = (struct bench_point){steps, NET_SIZE, BENCH_NEW(double, NET_SIZE)};
    data->inputs = INPUTS;
    data->units = UNITS;
    data->sequence = BENCH_NEW(double, steps *INPUTS);
    data->targets = BENCH_NEW(double, steps *UNITS);
    corpus_seed(108);
    corpus_fill(data->point.x, NET_SIZE, -0.3, 0.3);
    corpus_fill(data->sequence, (size_t)(steps * INPUTS), -1.0, 1.0);
    corpus_fill(data->targets, (size_t)(steps * UNITS), -1.0, 1.0);
    return &data->point;
}

static double bench_primal(struct bench_point *point)
{
    struct recurrent *data = (struct recurrent *)point;
    return lstm_loss(point->x, data->sequence, data->targets, data->inputs, data->units, point->size);
}

static void bench_gradient(struct bench_point *point, double *g)
{
    struct recurrent *data = (struct recurrent *)point;
    memset(g, 0, sizeof(double) * point->count);
    __enzyme_autodiff_void((void *)lstm_loss, enzyme_dup, point->x, g, enzyme_const, data->sequence, enzyme_const,
                           data->targets, enzyme_const, data->inputs, enzyme_const, data->units, enzyme_const,
                           point->size);
}

static double bench_value_gradient(struct bench_point *point, double *g)
{
    struct recurrent *data = (struct recurrent *)point;
    double result = 0.0, seed = 1.0;
    memset(g, 0, sizeof(double) * point->count);
    __enzyme_autodiff_void((void *)lstm_loss_into, enzyme_dup, point->x, g, enzyme_const, data->sequence, enzyme_const,
                           data->targets, enzyme_const, data->inputs, enzyme_const, data->units, enzyme_const,
                           point->size, enzyme_dup, &result, &seed);
    return result;
}

BENCH_HAND(struct recurrent, adjoint)

static size_t bench_kept(int steps)
{
    return sizeof(double) * (size_t)steps * 7 * UNITS; // states, gates, tanh(c)
}

static void bench_inputs(const struct bench_point *point, struct bench_input *inputs)
{
    const struct recurrent *data = (const struct recurrent *)point;
    inputs[0] = BENCH_REALS("sequence", data->sequence, point->size * data->inputs);
    inputs[1] = BENCH_REALS("targets", data->targets, point->size * data->units);
    inputs[2] = BENCH_INTEGERS("inputs", &data->inputs, 1);
    inputs[3] = BENCH_INTEGERS("units", &data->units, 1);
}

const struct bench_kernel BENCH_NAME(BENCH_COLUMN) = {
    .name = "lstm_dense",
    .small = 6,
    .normal = 200,
    .sweep = {50, 200, 800},
    BENCH_FUNCTIONS,
    .inputs = bench_inputs,
    .kept = bench_kept,
};
