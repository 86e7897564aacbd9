// The log-likelihood of a Kalman filter for position and speed with noisy positions, matrices as fixed-size structs
// passed by pointer and by value; missing observations (NaN in constant data) skip the update. Active: noise
// parameters and start.
// Source: Durbin, Koopman, "Time Series Analysis by State Space Methods", section 4.3.
#include "corpus.h"

typedef struct {
    double a[2][2];
} mat2;

typedef struct {
    double level, slope;
    mat2 covariance;
} belief;

static mat2 product(mat2 p, mat2 q)
{
    mat2 r;
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 2; j++)
            r.a[i][j] = p.a[i][0] * q.a[0][j] + p.a[i][1] * q.a[1][j];
    return r;
}

static mat2 transpose(mat2 p)
{
    double t = p.a[0][1];
    p.a[0][1] = p.a[1][0];
    p.a[1][0] = t;
    return p;
}

static belief predict(belief b, double dt, double noise)
{
    mat2 f = {{{1.0, dt}, {0.0, 1.0}}};
    b.level += dt * b.slope;
    b.covariance = product(product(f, b.covariance), transpose(f));
    b.covariance.a[0][0] += noise * dt * dt * dt / 3.0;
    b.covariance.a[0][1] += noise * dt * dt / 2.0;
    b.covariance.a[1][0] += noise * dt * dt / 2.0;
    b.covariance.a[1][1] += noise * dt;
    return b;
}

static double update(belief *b, double observed, double noise)
{
    double innovation = observed - b->level, s = b->covariance.a[0][0] + noise;
    double gain[2] = {b->covariance.a[0][0] / s, b->covariance.a[1][0] / s};
    belief old = *b;
    b->level += gain[0] * innovation;
    b->slope += gain[1] * innovation;
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 2; j++)
            b->covariance.a[i][j] = old.covariance.a[i][j] - gain[i] * old.covariance.a[0][j];
    return -0.5 * (log(6.283185307179586 * s) + innovation * innovation / s);
}

static double log_likelihood(const double *x, const double *observations, int count)
{
    belief b = {x[2], x[3], {{{exp(x[4]), 0.0}, {0.0, exp(x[4])}}}};
    double sum = 0.0;
    for (int t = 0; t < count; t++) {
        b = predict(b, 0.5, exp(x[0]));
        if (isnan(observations[t]))
            continue;
        sum += update(&b, observations[t], exp(x[1]));
    }
    return sum;
}

enum { COUNT = CORPUS_SIZE(150, 8), SIZE = 5 };

static double point[SIZE] = {-2.0, -1.2, 0.3, 0.1, 0.5}, observations[COUNT];

static void setup(void)
{
    corpus_seed(153);
    for (int t = 0; t < COUNT; t++)
        observations[t] = t % 11 == 5 ? NAN : sin(0.1 * t) + corpus_uniform(-0.4, 0.4);
}

static double value(const double *x)
{
    return log_likelihood(x, observations, COUNT);
}

static double tangent(const double *x, const double *v)
{
    return __enzyme_fwddiff((void *)log_likelihood, enzyme_dup, x, v, enzyme_const, observations, enzyme_const, COUNT);
}

static void gradient(const double *x, double *g)
{
    corpus_zero(g, SIZE);
    __enzyme_autodiff((void *)log_likelihood, enzyme_dup, x, g, enzyme_const, observations, enzyme_const, COUNT);
}

static const struct corpus_problem problem = {
    .name = "kalman",
    .size = SIZE,
    .point = point,
    .setup = setup,
    .value = value,
    .tangent = tangent,
    .gradient = gradient,
    .coordinates = CORPUS_ALL,
};

CORPUS_MAIN(&problem)
