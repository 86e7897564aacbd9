// Bytes moved one by one, as libraries without a C library do it: a copy upwards by index, one by moving pointers, a move
// that runs up or down as the places overlap, an exchange of two elements, and a run-length decoder that reads what it has
// just written. A ring buffer of samples and a table of sensors, sorted by a shell sort that knows only bytes.
#include "corpus.h"

enum { SENSORS = CORPUS_SIZE(6, 3), SAMPLES = CORPUS_SIZE(9, 4), N = 2 * SENSORS + SAMPLES };

struct sensor {
    double gain;
    int channel;
    double offset;
    double *latest;
};

static void copy(void *to, const void *from, size_t size)
{
    unsigned char *t = to;
    const unsigned char *f = from;
    for (size_t i = 0; i < size; i++)
        t[i] = f[i];
}

__attribute__((noinline)) static void *copy_moving(void *to, const void *from, size_t size)
{
    char *t = to;
    const char *f = from;
    while (size--)
        *t++ = *f++;
    return to;
}

static void move(void *to, const void *from, size_t size)
{
    char *t = to;
    const char *f = from;
    if (t < f)
        for (size_t i = 0; i < size; i++)
            t[i] = f[i];
    else
        for (size_t i = size; i > 0; i--)
            t[i - 1] = f[i - 1];
}

static void exchange(void *a, void *b, size_t size)
{
    char *x = a, *y = b;
    for (size_t i = 0; i < size; i++) {
        char held = x[i];
        x[i] = y[i];
        y[i] = held;
    }
}

__attribute__((noinline)) static void shell_sort(char *base, size_t count, size_t size,
                                                 int (*compare)(const void *, const void *))
{
    for (size_t gap = count / 2; gap > 0; gap /= 2)
        for (size_t i = gap; i < count; i++)
            for (size_t j = i; j >= gap && compare(base + (j - gap) * size, base + j * size) > 0; j -= gap)
                exchange(base + (j - gap) * size, base + j * size, size);
}

static int by_gain(const void *a, const void *b)
{
    double p = ((const struct sensor *)a)->gain, q = ((const struct sensor *)b)->gain;
    return (p > q) - (p < q);
}

// A literal of some letters, then copies of what was written `back` bytes before.
__attribute__((noinline)) static int decode(char *out, const char *letters, int literal, int back, int more)
{
    copy(out, letters, (size_t)literal);
    for (int i = 0; i < more; i++)
        out[literal + i] = out[literal - back + i];
    return literal + more;
}

static double readings(double *x)
{
    struct sensor sensors[SENSORS], moved[SENSORS + 2];
    double ring[SAMPLES + 3];
    char text[32];
    int letters = decode(text, "abc", 3, 2, 11);
    copy_moving(ring, x + 2 * SENSORS, SAMPLES * sizeof(double));
    for (int i = 0; i < SENSORS; i++)
        sensors[i] = (struct sensor){x[2 * i], text[i % letters] - 'a', 0.5 * x[2 * i + 1], &ring[i % SAMPLES]};
    shell_sort((char *)sensors, SENSORS, sizeof *sensors, by_gain);
    copy(moved, sensors, sizeof sensors);
    move(moved + 2, moved, SENSORS * sizeof *moved);
    double sum = 0.0;
    for (int step = 0; step < 3; step++) {
        double first = ring[0];
        move(ring, ring + 1, (SAMPLES - 1) * sizeof(double));
        ring[SAMPLES - 1] = sin(first) * ring[0];
        for (int i = 0; i < SENSORS; i++) {
            const struct sensor *s = &moved[i + 2];
            sum += s->gain * *s->latest * (1 + s->channel) + s->offset * *s->latest * *s->latest * (i + 1);
        }
    }
    return sum;
}

static double point[N], work[N], shadow[N];

static void setup(void)
{
    for (int i = 0; i < N; i++)
        point[i] = 0.5 + 0.125 * ((5 * i + 3) % N) + 0.0078125 * i;
}

static double value(const double *x)
{
    corpus_copy(work, x, N);
    return readings(work);
}

static double tangent(const double *x, const double *v)
{
    corpus_copy(work, x, N);
    corpus_copy(shadow, v, N);
    return __enzyme_fwddiff((void *)readings, enzyme_dup, work, shadow);
}

static void gradient(const double *x, double *g)
{
    corpus_copy(work, x, N);
    corpus_zero(g, N);
    __enzyme_autodiff((void *)readings, enzyme_dup, work, g);
}

static const struct corpus_problem problem = {
    .name = "bytes_moved",
    .size = N,
    .point = point,
    .setup = setup,
    .value = value,
    .tangent = tangent,
    .gradient = gradient,
    .coordinates = CORPUS_ALL,
    .step = 0x1p-10, // gains are far enough apart that the order stays
};

CORPUS_MAIN(&problem)
