// A transport delay: parcels (id, amount, temperature) wait in an array that is shifted down by memmove when the
// first ones leave and shifted up when an urgent one is put in front; reactions go on while they wait. A reactor with
// recycle stream. Active: feed amounts, temperatures, rate constant. Loss = deviation of the outlet + weighted ids.
#include "corpus.h"

struct parcel {
    int id;
    unsigned char urgent;
    double amount, temperature;
};

struct line {
    struct parcel parcels[32];
    int count;
};

static void enqueue(struct line *line, struct parcel parcel)
{
    int at = line->count;
    if (parcel.urgent) {
        memmove(line->parcels + 1, line->parcels, sizeof(parcel) * (size_t)line->count);
        at = 0;
    }
    line->parcels[at] = parcel;
    line->count++;
}

static struct parcel dequeue(struct line *line)
{
    struct parcel first = line->parcels[0];
    line->count--;
    memmove(line->parcels, line->parcels + 1, sizeof(first) * (size_t)line->count);
    return first;
}

static void react(struct line *line, double rate)
{
    for (int i = 0; i < line->count; i++) {
        struct parcel *p = &line->parcels[i];
        double converted = p->amount * rate * exp(-1.0 / p->temperature) * 0.1;
        p->amount -= converted;
        p->temperature += 0.2 * converted;
    }
}

static double reactor_loss(const double *feed, const double *temperatures, double rate, int steps)
{
    struct line line;
    double loss = 0.0;
    line.count = 0;
    for (int t = 0; t < steps; t++) {
        enqueue(&line, (struct parcel){t, t % 5 == 3, feed[t], temperatures[t]});
        react(&line, rate);
        if (line.count > 8) {
            struct parcel out = dequeue(&line);
            loss += (out.amount - 0.5) * (out.amount - 0.5) + 1e-3 * out.id * out.temperature;
            if (t % 3 == 0) {
                out.amount *= 0.5;
                out.urgent = 0;
                enqueue(&line, out);
            }
        }
    }
    while (line.count > 0)
        loss += 0.1 * dequeue(&line).amount * (line.count + 1);
    return loss;
}

enum { STEPS = CORPUS_SIZE(40, 12), SIZE = 2 * STEPS + 1 };

static double point[SIZE];

static void setup(void)
{
    corpus_seed(224);
    corpus_fill(point, SIZE, 0.5, 1.5);
}

static double loss(const double *x)
{
    return reactor_loss(x, x + STEPS, x[2 * STEPS], STEPS);
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
    .name = "delay_queue",
    .size = SIZE,
    .point = point,
    .setup = setup,
    .value = value,
    .tangent = tangent,
    .gradient = gradient,
};

CORPUS_MAIN(&problem)
