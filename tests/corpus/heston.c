// Heston's stochastic volatility with full truncation; the state of many paths is stored as a struct of arrays which
// are stepped together; correlated normals from a table made at start. Loss = (price - market)^2 over several
// strikes.
// Source: Lord, Koekkoek, van Dijk, Quantitative Finance 10 (2010), equation (9).
#include "corpus.h"

struct paths {
    int count;
    double *log_price;
    double *variance;
};

struct model {
    double v0, kappa, theta, xi, rho, rate;
};

static void advance(struct paths *p, const struct model *m, const double *normals, double dt)
{
    double root = sqrt(1.0 - m->rho * m->rho), *s = p->log_price, *v = p->variance;
    for (int i = 0; i < p->count; i++) {
        double plus = v[i] > 0.0 ? v[i] : 0.0, deviation = sqrt(plus * dt + 1e-12);
        double z1 = normals[2 * i], z2 = m->rho * z1 + root * normals[2 * i + 1];
        s[i] += (m->rate - 0.5 * plus) * dt + deviation * z1;
        v[i] += m->kappa * (m->theta - plus) * dt + m->xi * deviation * z2;
    }
}

static double calibration_loss(const double *x, const double *normals, int count, int steps, const double *strikes,
                               const double *market, int quotes)
{
    struct model model = {x[0], x[1], x[2], x[3], x[4], 0.02};
    struct paths paths = {count, NULL, NULL};
    double loss = 0.0;
    paths.log_price = calloc((size_t)count, sizeof(double));
    paths.variance = malloc((size_t)count * sizeof(double));
    for (int i = 0; i < count; i++)
        paths.variance[i] = model.v0;
    for (int t = 0; t < steps; t++)
        advance(&paths, &model, normals + 2 * count * t, 1.0 / steps);
    for (int q = 0; q < quotes; q++) {
        double price = 0.0;
        for (int i = 0; i < count; i++) {
            double payoff = exp(paths.log_price[i]) - strikes[q];
            price += payoff > 0.0 ? payoff : 0.0;
        }
        price *= exp(-model.rate) / count;
        loss += (price - market[q]) * (price - market[q]);
    }
    free(paths.variance);
    free(paths.log_price);
    return loss;
}

enum { PATHS = CORPUS_SIZE(150, 4), STEPS = CORPUS_SIZE(16, 3), QUOTES = 3, SIZE = 5 };

static double point[SIZE] = {0.05, 1.7, 0.06, 0.4, -0.55}, normals[2 * PATHS * STEPS];
static const double strikes[QUOTES] = {0.9, 1.003, 1.1}, market[QUOTES] = {0.15, 0.09, 0.05};

static void setup(void)
{
    corpus_seed(150);
    for (int i = 0; i < 2 * PATHS * STEPS; i++) {
        double sum = -6.0;
        for (int k = 0; k < 12; k++)
            sum += corpus_uniform(0.0, 1.0);
        normals[i] = sum;
    }
}

static double value(const double *x)
{
    return calibration_loss(x, normals, PATHS, STEPS, strikes, market, QUOTES);
}

static double tangent(const double *x, const double *v)
{
    return __enzyme_fwddiff((void *)calibration_loss, enzyme_dup, x, v, enzyme_const, normals, enzyme_const, PATHS,
                            enzyme_const, STEPS, enzyme_const, strikes, enzyme_const, market, enzyme_const, QUOTES);
}

static void gradient(const double *x, double *g)
{
    corpus_zero(g, SIZE);
    __enzyme_autodiff((void *)calibration_loss, enzyme_dup, x, g, enzyme_const, normals, enzyme_const, PATHS,
                      enzyme_const, STEPS, enzyme_const, strikes, enzyme_const, market, enzyme_const, QUOTES);
}

static const struct corpus_problem problem = {
    .name = "heston",
    .size = SIZE,
    .point = point,
    .setup = setup,
    .value = value,
    .tangent = tangent,
    .gradient = gradient,
    .coordinates = CORPUS_ALL,
    .step = 0x1p-22, // variances and payoffs keep their signs
    .fd_tolerance = 1e-4, // rounding over a small step
};

CORPUS_MAIN(&problem)
