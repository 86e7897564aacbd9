// Messages of mixed records are copied by their length in bytes, which may end inside a record (the receiver's buffer
// was filled with defaults before): a telemetry link with a limit on the length. Loss = weighted sum over what
// arrived. Active: the measurements.
#include "corpus.h"

struct record {
    int sensor;
    float quality;
    double value, variance;
};

enum { RECORDS = 6 };

static size_t receive(struct record *to, const struct record *from, size_t bytes, size_t limit)
{
    size_t length = bytes < limit ? bytes : limit;
    for (int i = 0; i < RECORDS; i++)
        to[i] = (struct record){-1, 0.5f, 1.0, 0.25};
    memcpy(to, from, length);
    return length;
}

static double telemetry_loss(const double *measurements, int messages)
{
    struct record sent[RECORDS], received[RECORDS];
    double loss = 0.0;
    for (int m = 0; m < messages; m++) {
        const double *x = measurements + 2 * RECORDS * m;
        for (int i = 0; i < RECORDS; i++)
            sent[i] = (struct record){i, 1.0f / (float)(1 + i), x[2 * i], exp(x[2 * i + 1])};
        receive(received, sent, sizeof(sent), 16 + 24 * (size_t)(m % RECORDS) + 8 * (size_t)(m % 2));
        for (int i = 0; i < RECORDS; i++) {
            const struct record *r = &received[i];
            loss += r->quality * r->value * r->value / (1.0 + r->variance) + 0.1 * r->sensor * r->variance;
        }
    }
    return loss;
}

enum { MESSAGES = CORPUS_SIZE(8, 3), SIZE = 2 * RECORDS * MESSAGES };

static double point[SIZE];

static void setup(void)
{
    corpus_seed(227);
    corpus_fill(point, SIZE, -1.0, 1.0);
}

static double value(const double *x)
{
    return telemetry_loss(x, MESSAGES);
}

static double tangent(const double *x, const double *v)
{
    return __enzyme_fwddiff((void *)telemetry_loss, enzyme_dup, x, v, enzyme_const, MESSAGES);
}

static void gradient(const double *x, double *g)
{
    corpus_zero(g, SIZE);
    __enzyme_autodiff((void *)telemetry_loss, enzyme_dup, x, g, enzyme_const, MESSAGES);
}

static const struct corpus_problem problem = {
    .name = "truncated_message",
    .size = SIZE,
    .point = point,
    .setup = setup,
    .value = value,
    .tangent = tangent,
    .gradient = gradient,
};

CORPUS_MAIN(&problem)
