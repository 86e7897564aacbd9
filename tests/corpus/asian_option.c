// An arithmetic Asian call by Monte Carlo with the program's own linear congruential generator, Box-Muller pairs (one
// of them kept in a static variable for the next call), and a smooth control variate. Active: spot, volatility, rate,
// strike.
// Source: Glasserman, "Monte Carlo Methods in Financial Engineering", sections 1.1.2 and 7.2.
#include "corpus.h"

struct random {
    uint64_t state;
    int have_spare;
    double spare;
};

static double uniform(struct random *r)
{
    r->state = r->state * 6364136223846793005u + 1442695040888963407u;
    return ((double)(r->state >> 11) + 0.5) * 0x1p-53;
}

static double normal(struct random *r)
{
    if (r->have_spare) {
        r->have_spare = 0;
        return r->spare;
    }
    double radius = sqrt(-2.0 * log(uniform(r))), angle = 6.283185307179586 * uniform(r);
    r->spare = radius * sin(angle);
    r->have_spare = 1;
    return radius * cos(angle);
}

static double asian_price(const double *x, int paths, int dates)
{
    double spot = x[0], volatility = x[1], rate = x[2], strike = x[3], dt = 1.0 / dates;
    struct random random = {12345, 0, 0.0};
    double total = 0.0, control = 0.0;
    for (int p = 0; p < paths; p++) {
        double price = spot, sum = 0.0;
        for (int d = 0; d < dates; d++) {
            price *= exp((rate - 0.5 * volatility * volatility) * dt + volatility * sqrt(dt) * normal(&random));
            sum += price;
        }
        double average = sum / dates;
        if (average > strike)
            total += average - strike;
        control += price * exp(-rate) - spot;
    }
    return exp(-rate) * total / paths - 0.5 * control / paths;
}

enum { SIZE = 4 };

static double point[SIZE] = {100.0, 0.25, 0.03, 101.0};

static void setup(void)
{
}

static double value(const double *x)
{
    return asian_price(x, CORPUS_SIZE(500, 4), CORPUS_SIZE(12, 3));
}

static double tangent(const double *x, const double *v)
{
    return __enzyme_fwddiff((void *)asian_price, enzyme_dup, x, v, enzyme_const, CORPUS_SIZE(500, 4), enzyme_const,
                            CORPUS_SIZE(12, 3));
}

static void gradient(const double *x, double *g)
{
    corpus_zero(g, SIZE);
    __enzyme_autodiff((void *)asian_price, enzyme_dup, x, g, enzyme_const, CORPUS_SIZE(500, 4), enzyme_const,
                      CORPUS_SIZE(12, 3));
}

static const struct corpus_problem problem = {
    .name = "asian_option",
    .size = SIZE,
    .point = point,
    .setup = setup,
    .value = value,
    .tangent = tangent,
    .gradient = gradient,
    .coordinates = CORPUS_ALL,
    .step = 0x1p-16, // no path's average crosses the strike
    .fd_tolerance = 1e-5, // rounding over a small step
};

CORPUS_MAIN(&problem)
