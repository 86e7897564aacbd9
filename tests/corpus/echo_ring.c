// A comb filter with a ring buffer: y_t = x_t + a y_{t-D} (1 - b y_{t-D}^2), and a running maximum-free level meter
// which averages the last W outputs in a second ring. The index wraps by modulo. Active: the signal, a and b.
// Source: Schroeder, "Natural sounding artificial reverberation", J. Audio Eng. Soc. 10 (1962).
#include "corpus.h"

struct ring {
    double *data;
    size_t size;
    size_t head;
};

static struct ring ring_new(size_t size)
{
    struct ring ring;
    ring.data = calloc(size, sizeof(double));
    ring.size = size;
    ring.head = 0;
    return ring;
}

static double ring_oldest(const struct ring *ring)
{
    return ring->data[ring->head];
}

static void ring_push(struct ring *ring, double value)
{
    ring->data[ring->head] = value;
    ring->head = (ring->head + 1) % ring->size;
}

static double echo_loss(const double *signal, size_t count, double feedback, double compression, size_t delay,
                        size_t window)
{
    struct ring line = ring_new(delay), meter = ring_new(window);
    double level = 0.0, loss = 0.0;
    for (size_t t = 0; t < count; t++) {
        double old = ring_oldest(&line);
        double output = signal[t] + feedback * old * (1.0 - compression * old * old);
        ring_push(&line, output);
        double power = output * output;
        level += (power - ring_oldest(&meter)) / (double)window;
        ring_push(&meter, power);
        loss += (level - 0.25) * (level - 0.25);
    }
    free(line.data);
    free(meter.data);
    return loss / (double)count;
}

enum { COUNT = CORPUS_SIZE(400, 12), DELAY = CORPUS_SIZE(23, 3), WINDOW = CORPUS_SIZE(16, 2), SIZE = COUNT + 2 };

static double point[SIZE];

static void setup(void)
{
    corpus_seed(104);
    for (int i = 0; i < COUNT; i++)
        point[i] = 0.6 * sin(0.3 * i) + corpus_uniform(-0.2, 0.2);
    point[COUNT] = 0.5;
    point[COUNT + 1] = 0.1;
}

static double loss(const double *x)
{
    return echo_loss(x, COUNT, x[COUNT], x[COUNT + 1], DELAY, WINDOW);
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
    .name = "echo_ring",
    .size = SIZE,
    .point = point,
    .setup = setup,
    .value = value,
    .tangent = tangent,
    .gradient = gradient,
};

CORPUS_MAIN(&problem)
