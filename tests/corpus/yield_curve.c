// Bootstrapping a zero curve from swap rates: an array of structs grows pillar by pillar, every new discount factor
// is found by Newton's method with a numerical annuity on log-linear interpolation; then a swap off the pillars is
// priced.
// Source: Hagan, West, "Interpolation methods for curve construction", Applied Mathematical Finance 13 (2006).
#include "corpus.h"

struct pillar {
    int years;
    double log_discount;
};

struct curve {
    int count;
    struct pillar pillars[12];
};

static double discount(const struct curve *curve, double time)
{
    const struct pillar *p = curve->pillars;
    int i = 1;
    while (i < curve->count - 1 && time > p[i].years)
        i++;
    double share = (time - p[i - 1].years) / (double)(p[i].years - p[i - 1].years);
    return exp(p[i - 1].log_discount + share * (p[i].log_discount - p[i - 1].log_discount));
}

static double swap_value(const struct curve *curve, double rate, int years, double *slope)
{
    double annuity = 0.0, sensitivity = 0.0;
    const struct pillar *last = &curve->pillars[curve->count - 1], *before = last - 1;
    for (int t = 1; t <= years; t++) {
        double d = discount(curve, t), weight = t == years ? 1.0 + rate : rate;
        annuity += weight * d;
        if (t > before->years)
            sensitivity += weight * d * (t - before->years) / (double)(last->years - before->years);
    }
    *slope = sensitivity;
    return annuity - 1.0;
}

static int add_pillar(struct curve *curve, int years, double rate)
{
    struct pillar *new = &curve->pillars[curve->count++];
    new->years = years;
    new->log_discount = -rate * years;
    for (int iteration = 0; iteration < 50; iteration++) {
        double slope, value = swap_value(curve, rate, years, &slope), change = value / slope;
        new->log_discount -= change;
        if (fabs(change) < 1e-15)
            return iteration;
    }
    return -1;
}

static double swap_price(const double *rates, const int *years, int count, double fixed, int maturity)
{
    struct curve curve = {1, {{0, 0.0}}};
    for (int i = 0; i < count; i++)
        if (add_pillar(&curve, years[i], rates[i]) < 0)
            return NAN;
    double legs = 0.0;
    for (int half = 1; half <= 2 * maturity; half++)
        legs += 0.5 * fixed * discount(&curve, 0.5 * half);
    return 1.0 - discount(&curve, maturity) - legs;
}

enum { SIZE = 8 };

static double point[SIZE] = {0.021, 0.023, 0.0255, 0.027, 0.0282, 0.0295, 0.0301, 0.0298};
static const int years[SIZE] = {1, 2, 3, 5, 7, 10, 15, 20};

static void setup(void)
{
}

static double value(const double *x)
{
    return swap_price(x, years, SIZE, 0.029, 13);
}

static double tangent(const double *x, const double *v)
{
    return __enzyme_fwddiff((void *)swap_price, enzyme_dup, x, v, enzyme_const, years, enzyme_const, SIZE, enzyme_const,
                            0.029, enzyme_const, 13);
}

static void gradient(const double *x, double *g)
{
    corpus_zero(g, SIZE);
    __enzyme_autodiff((void *)swap_price, enzyme_dup, x, g, enzyme_const, years, enzyme_const, SIZE, enzyme_const,
                      0.029, enzyme_const, 13);
}

static const struct corpus_problem problem = {
    .name = "yield_curve",
    .size = SIZE,
    .point = point,
    .setup = setup,
    .value = value,
    .tangent = tangent,
    .gradient = gradient,
    .coordinates = CORPUS_ALL,
    .step = 1.0 / 1024.0, // rates of some per cent
};

CORPUS_MAIN(&problem)
