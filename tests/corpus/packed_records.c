// Packed records as they come from a file or a sensor bus: a byte of type, a short, then doubles and floats at odd
// addresses. A calibration is applied in place and the residuals of a plane fit are summed.
#include "corpus.h"

#pragma pack(push, 1)
struct record {
    uint8_t type;
    uint16_t channel;
    double value;
    float gain;
    uint8_t flags;
    double position[2];
};
#pragma pack(pop)

_Static_assert(sizeof(struct record) == 32, "packed");

static void calibrate(struct record *records, int count, const double *offsets, int channels)
{
    for (int i = 0; i < count; i++) {
        struct record *r = &records[i];
        if (r->flags & 1)
            continue;
        r->value = (r->value - offsets[r->channel % channels]) * r->gain;
        r->flags |= 1;
    }
}

static double plane_residual(const struct record *records, int count, const double *plane)
{
    double sum = 0.0, weight = 0.0;
    for (int i = 0; i < count; i++) {
        struct record r = records[i];
        double predicted = plane[0] + plane[1] * r.position[0] + plane[2] * r.position[1];
        double w = r.type == 2 ? 0.5 : 1.0;
        sum += w * (r.value - predicted) * (r.value - predicted);
        weight += w;
    }
    return sum / weight;
}

static double records_loss(struct record *records, int count, const double *offsets, int channels, const double *plane)
{
    calibrate(records, count, offsets, channels);
    return plane_residual(records, count, plane);
}

enum { COUNT = CORPUS_SIZE(60, 5), CHANNELS = 4, PER = 3, SIZE = PER * COUNT + CHANNELS + 3 };

static double point[SIZE];
static struct record params[COUNT], shadow[COUNT];

static void setup(void)
{
    corpus_seed(118);
    corpus_fill(point, SIZE, -1.0, 1.0);
}

static void pack(struct record *to, const double *x)
{
    for (int i = 0; i < COUNT; i++, x += PER) {
        struct record r = {(uint8_t)(1 + i % 3), (uint16_t)(7 * i), x[0], to == params ? 1.25f : 0.0f, i % 5 == 0,
                           {x[1], x[2]}};
        to[i] = r;
    }
}

static void unpack(const struct record *from, double *g)
{
    for (int i = 0; i < COUNT; i++, g += PER) {
        g[0] = from[i].value;
        g[1] = from[i].position[0];
        g[2] = from[i].position[1];
    }
}

enum { TAIL = PER * COUNT };

static double value(const double *x)
{
    pack(params, x);
    return records_loss(params, COUNT, x + TAIL, CHANNELS, x + TAIL + CHANNELS);
}

static double tangent(const double *x, const double *v)
{
    pack(params, x);
    pack(shadow, v);
    return __enzyme_fwddiff((void *)records_loss, enzyme_dup, params, shadow, enzyme_const, COUNT, enzyme_dup, x + TAIL,
                            v + TAIL, enzyme_const, CHANNELS, enzyme_dup, x + TAIL + CHANNELS, v + TAIL + CHANNELS);
}

static void gradient(const double *x, double *g)
{
    pack(params, x);
    memset(shadow, 0, sizeof(shadow));
    corpus_zero(g, SIZE);
    __enzyme_autodiff((void *)records_loss, enzyme_dup, params, shadow, enzyme_const, COUNT, enzyme_dup, x + TAIL,
                      g + TAIL, enzyme_const, CHANNELS, enzyme_dup, x + TAIL + CHANNELS, g + TAIL + CHANNELS);
    unpack(shadow, g);
}

static const struct corpus_problem problem = {
    .name = "packed_records",
    .size = SIZE,
    .point = point,
    .setup = setup,
    .value = value,
    .tangent = tangent,
    .gradient = gradient,
};

CORPUS_MAIN(&problem)
