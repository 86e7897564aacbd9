// Serialisation: the state of a simulation (doubles, ints, a name) is written to a byte buffer with memcpy, field after
// field and hence misaligned, sent through a byte-by-byte copy, and read back on the other side, where it goes on.
//
//   state: oscillators with position, speed; loss = energy after the second half of the simulation
#include "corpus.h"

struct oscillator {
    int id;
    double position, speed, stiffness;
};

struct writer {
    unsigned char *bytes;
    size_t used;
};

static void put(struct writer *w, const void *data, size_t size)
{
    memcpy(w->bytes + w->used, data, size);
    w->used += size;
}

static const unsigned char *get(const unsigned char *from, void *data, size_t size)
{
    memcpy(data, from, size);
    return from + size;
}

static void step(struct oscillator *o, int count, double dt)
{
    for (int i = 0; i < count; i++) {
        double left = i > 0 ? o[i - 1].position : 0.0, right = i + 1 < count ? o[i + 1].position : 0.0;
        double force = o[i].stiffness * (left - 2.0 * o[i].position + right) - 0.2 * pow(o[i].position, 3);
        o[i].speed += dt * force;
    }
    for (int i = 0; i < count; i++)
        o[i].position += dt * o[i].speed;
}

static size_t save(const struct oscillator *o, int count, unsigned char *bytes)
{
    struct writer w = {bytes, 0};
    put(&w, "STATE1\n", 7);
    put(&w, &count, sizeof(count));
    for (int i = 0; i < count; i++) {
        put(&w, &o[i].id, sizeof(o[i].id));
        put(&w, &o[i].position, sizeof(double));
        put(&w, &o[i].speed, sizeof(double));
        put(&w, &o[i].stiffness, sizeof(double));
    }
    return w.used;
}

static struct oscillator *load(const unsigned char *bytes, int *count)
{
    bytes += 7;
    bytes = get(bytes, count, sizeof(*count));
    struct oscillator *o = calloc((size_t)*count, sizeof(*o));
    for (int i = 0; i < *count; i++) {
        bytes = get(bytes, &o[i].id, sizeof(o[i].id));
        bytes = get(bytes, &o[i].position, sizeof(double));
        bytes = get(bytes, &o[i].speed, sizeof(double));
        bytes = get(bytes, &o[i].stiffness, sizeof(double));
    }
    return o;
}

static double restart_loss(const double *x, int count, int steps)
{
    struct oscillator *o = malloc((size_t)count * sizeof(*o));
    for (int i = 0; i < count; i++)
        o[i] = (struct oscillator){i, x[3 * i], x[3 * i + 1], x[3 * i + 2]};
    for (int t = 0; t < steps; t++)
        step(o, count, 0.05);

    unsigned char *bytes = malloc(16 + (size_t)count * 32), *wire = malloc(16 + (size_t)count * 32);
    size_t size = save(o, count, bytes);
    for (size_t i = 0; i < size; i++)
        wire[i] = bytes[i];
    free(bytes);
    free(o);

    int read = 0;
    o = load(wire, &read);
    free(wire);
    for (int t = 0; t < steps; t++)
        step(o, read, 0.05);
    double loss = 0.0;
    for (int i = 0; i < read; i++)
        loss += 0.5 * o[i].speed * o[i].speed + 0.5 * o[i].stiffness * o[i].position * o[i].position * (1 + o[i].id);
    free(o);
    return loss;
}

enum { COUNT = CORPUS_SIZE(10, 3), STEPS = CORPUS_SIZE(20, 3), SIZE = 3 * COUNT };

static double point[SIZE];

static void setup(void)
{
    corpus_seed(119);
    for (int i = 0; i < COUNT; i++) {
        corpus_fill(point + 3 * i, 2, -1.0, 1.0);
        point[3 * i + 2] = corpus_uniform(0.5, 1.5);
    }
}

static double value(const double *x)
{
    return restart_loss(x, COUNT, STEPS);
}

static double tangent(const double *x, const double *v)
{
    return __enzyme_fwddiff((void *)restart_loss, enzyme_dup, x, v, enzyme_const, COUNT, enzyme_const, STEPS);
}

static void gradient(const double *x, double *g)
{
    corpus_zero(g, SIZE);
    __enzyme_autodiff((void *)restart_loss, enzyme_dup, x, g, enzyme_const, COUNT, enzyme_const, STEPS);
}

static const struct corpus_problem problem = {
    .name = "serialise",
    .size = SIZE,
    .point = point,
    .setup = setup,
    .value = value,
    .tangent = tangent,
    .gradient = gradient,
};

CORPUS_MAIN(&problem)
