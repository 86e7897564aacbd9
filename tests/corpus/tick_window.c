// A window over a stream of trades (structs of time, price, size, side) that is moved along by memmove of constant
// size; at each tick volume-weighted price, realised variance and order imbalance of the window. Active: prices and
// sizes.
// Source: Easley, Lopez de Prado, O'Hara, Rev. Financial Studies 25 (2012), for the imbalance.
#include "corpus.h"

enum { WINDOW = 6 };

struct trade {
    int time;
    char side;
    double price, size;
};

static double signal_at(const struct trade *window)
{
    double volume = 0.0, value = 0.0, variance = 0.0, imbalance = 0.0;
    for (int i = 0; i < WINDOW; i++) {
        const struct trade *t = &window[i];
        double decay = 1.0 / (1.0 + 0.1 * (window[WINDOW - 1].time - t->time));
        volume += decay * t->size;
        value += decay * t->size * t->price;
        imbalance += t->side == 'b' ? decay * t->size : -decay * t->size;
        if (i > 0) {
            double jump = log(t->price / window[i - 1].price);
            variance += jump * jump;
        }
    }
    return value / volume * (1.0 + variance) + 0.1 * imbalance / volume;
}

static double stream_loss(const double *prices, const double *sizes, int count)
{
    struct trade window[WINDOW];
    double loss = 0.0;
    for (int i = 0; i < WINDOW; i++)
        window[i] = (struct trade){i - WINDOW, 's', 1.0, 0.1};
    for (int t = 0; t < count; t++) {
        memmove(window, window + 1, sizeof(window) - sizeof(window[0]));
        window[WINDOW - 1] = (struct trade){t, t % 3 ? 'b' : 's', prices[t], sizes[t]};
        double s = signal_at(window);
        loss += (s - 1.0) * (s - 1.0);
    }
    return loss;
}

enum { COUNT = CORPUS_SIZE(80, 8), SIZE = 2 * COUNT };

static double point[SIZE];

static void setup(void)
{
    corpus_seed(225);
    corpus_fill(point, COUNT, 0.9, 1.1);
    corpus_fill(point + COUNT, COUNT, 0.5, 2.0);
}

static double value(const double *x)
{
    return stream_loss(x, x + COUNT, COUNT);
}

static double tangent(const double *x, const double *v)
{
    return __enzyme_fwddiff((void *)stream_loss, enzyme_dup, x, v, enzyme_dup, x + COUNT, v + COUNT, enzyme_const,
                            COUNT);
}

static void gradient(const double *x, double *g)
{
    corpus_zero(g, SIZE);
    __enzyme_autodiff((void *)stream_loss, enzyme_dup, x, g, enzyme_dup, x + COUNT, g + COUNT, enzyme_const, COUNT);
}

static const struct corpus_problem problem = {
    .name = "tick_window",
    .size = SIZE,
    .point = point,
    .setup = setup,
    .value = value,
    .tangent = tangent,
    .gradient = gradient,
};

CORPUS_MAIN(&problem)
