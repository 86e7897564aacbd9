// Second derivatives of a function that keeps numbers in variables of the file: the tangents of these are other memory than the adjoints
// of the first derivative. Flow through a network of pipes whose state is a static structure; value = gradient along a direction.
#include "corpus.h"

enum { SIZE = 4 };

static struct {
    double spare, pressure, flow[SIZE];
    double *reached;
} network;

__attribute__((noinline)) static void set(const double *x)
{
    network.pressure = x[0] * x[0];
    network.reached = &network.pressure;
    for (int i = 0; i < SIZE; i++) {
        network.flow[i] = x[i] * *network.reached;
        network.reached = &network.flow[i];
    }
}

__attribute__((noinline)) static double loss_of(int i) { return network.flow[i] * network.pressure; }

static double loss(const double *x)
{
    double sum = 0.0;
    set(x);
    for (int i = 0; i < SIZE; i++)
        sum += (1.0 + 0.2 * i) * loss_of(i) * x[SIZE - 1 - i];
    return sum + *network.reached;
}

static double point[SIZE] = {1.1, 0.3, 0.7, 0.9};
static const double direction[SIZE] = {1.0, -0.7, 0.4, 0.2};

static double along(const double *x, double *g)
{
    double sum = 0.0;
    __enzyme_autodiff((void *)loss, x, g);
    for (int k = 0; k < SIZE; k++)
        sum += direction[k] * g[k];
    return sum;
}

static double value(const double *x)
{
    double g[SIZE] = {0.0};
    return along(x, g);
}

static double tangent(const double *x, const double *v)
{
    double g[SIZE] = {0.0}, h[SIZE] = {0.0};
    return __enzyme_fwddiff((void *)along, enzyme_dup, x, v, enzyme_dup, g, h);
}

// Reverse over reverse.
static void gradient(const double *x, double *g)
{
    double first[SIZE] = {0.0}, seed[SIZE] = {0.0};
    corpus_zero(g, SIZE);
    __enzyme_autodiff((void *)along, enzyme_dup, x, g, enzyme_dup, first, seed);
}

static const struct corpus_problem problem = {
    .name = "second_of_globals",
    .size = SIZE,
    .point = point,
    .value = value,
    .tangent = tangent,
    .gradient = gradient,
};

CORPUS_MAIN(&problem)
