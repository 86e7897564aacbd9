// A two-layer network with batch normalisation and dropout by a bit mask. Running averages are updated in place by two
// passes in training mode and used by a third in evaluation mode. Active: weights, scales, shifts and the batch.
// Source: Ioffe, Szegedy, ICML 2015, algorithm 2.
#include "corpus.h"
#include <stdbool.h>

enum { BATCH = CORPUS_SIZE(10, 3), IN = 5, UNITS = CORPUS_SIZE(7, 3) };
enum { SIZE = IN * UNITS + 2 * UNITS + UNITS + BATCH * IN };

typedef struct {
    const double *weights, *scale, *shift, *output;
    struct {
        double mean[UNITS], variance[UNITS];
        int updates;
    } running;
    uint64_t dropout;
    bool training;
} network;

static void normalise(network *net, double (*a)[UNITS])
{
    for (int u = 0; u < UNITS; u++) {
        double mean = net->running.mean[u], variance = net->running.variance[u];
        if (net->training) {
            mean = variance = 0.0;
            for (int b = 0; b < BATCH; b++)
                mean += a[b][u] / BATCH;
            for (int b = 0; b < BATCH; b++)
                variance += (a[b][u] - mean) * (a[b][u] - mean) / BATCH;
            net->running.mean[u] = 0.9 * net->running.mean[u] + 0.1 * mean;
            net->running.variance[u] = 0.9 * net->running.variance[u] + 0.1 * variance;
        }
        double inverse = 1.0 / sqrt(variance + 1e-3);
        for (int b = 0; b < BATCH; b++)
            a[b][u] = net->scale[u] * (a[b][u] - mean) * inverse + net->shift[u];
    }
    net->running.updates += net->training;
}

static double forward(network *net, const double (*batch)[IN], const double *targets)
{
    double a[BATCH][UNITS], loss = 0.0;
    for (int b = 0; b < BATCH; b++)
        for (int u = 0; u < UNITS; u++) {
            a[b][u] = 0.0;
            for (int i = 0; i < IN; i++)
                a[b][u] += net->weights[u * IN + i] * batch[b][i];
        }
    normalise(net, a);
    for (int b = 0; b < BATCH; b++) {
        double out = 0.0;
        for (int u = 0; u < UNITS; u++) {
            bool dropped = net->training && ((net->dropout >> ((b * UNITS + u) % 64)) & 1);
            if (!dropped)
                out += net->output[u] * log1p(exp(a[b][u]));
        }
        loss += (out - targets[b]) * (out - targets[b]);
    }
    return loss / BATCH;
}

static double total_loss(const double *x, const double (*batch)[IN], const double *targets)
{
    network net = {.weights = x, .dropout = 0x8421084210842108u, .training = true};
    net.scale = net.weights + IN * UNITS;
    net.shift = net.scale + UNITS;
    net.output = net.shift + UNITS;
    for (int u = 0; u < UNITS; u++)
        net.running.variance[u] = 1.0;
    double loss = forward(&net, batch, targets) + forward(&net, batch, targets);
    net.training = false;
    return loss + forward(&net, batch, targets) * net.running.updates;
}

static double point[SIZE], targets[BATCH];

static void setup(void)
{
    corpus_seed(160);
    corpus_fill(point, SIZE, -1.0, 1.0);
    corpus_fill(targets, BATCH, -1.0, 1.0);
}

static double loss(const double *x)
{
    return total_loss(x, (const double (*)[IN])(x + SIZE - BATCH * IN), targets);
}

static double value(const double *x)
{
    return loss(x);
}

static double tangent(const double *x, const double *v)
{
    return __enzyme_fwddiff((void *)loss, enzyme_dup, x, v);
}

static void gradient(const double *x, double *g)
{
    corpus_zero(g, SIZE);
    __enzyme_autodiff((void *)loss, enzyme_dup, x, g);
}

static const struct corpus_problem problem = {
    .name = "batch_norm",
    .size = SIZE,
    .point = point,
    .setup = setup,
    .value = value,
    .tangent = tangent,
    .gradient = gradient,
};

CORPUS_MAIN(&problem)
