// Small structures in registers, of functions that are not inlined: the calling convention puts a float beside an index
// into one integer. The worst residual of a fit and where it is; an interval with its weight.
// Source: System V Application Binary Interface, AMD64 Architecture Processor Supplement, section 3.2.3.
#include "corpus.h"

enum { N = 6, DATA = 12 };

struct worst {
    float size;
    int at;
};
struct weighted {
    int steps;
    float weight;
    double width;
};

static double data[DATA];

__attribute__((noinline)) static struct worst worse(struct worst known, float size, int at)
{
    return size > known.size ? (struct worst){size, at} : known;
}

__attribute__((noinline)) static struct worst worst_of(const double *x)
{
    struct worst found = {0.0f, 0};
    for (int i = 0; i < DATA; i++) {
        double t = (double)i / DATA, model = x[0] + t * (x[1] + t * x[2]);
        found = worse(found, (float)((model - data[i]) * (model - data[i])), i);
    }
    return found;
}

__attribute__((noinline)) static struct weighted halved(struct weighted whole)
{
    whole.steps++;
    whole.weight *= 0.5f * (1.0f + (float)whole.width);
    whole.width *= 0.5;
    return whole;
}

static double objective(const double *x)
{
    struct worst found = worst_of(x);
    double sum = found.size * (1.0 + found.at) * x[3];
    struct weighted interval = {0, (float)x[5], x[4]};
    while (interval.width > 0.1)
        interval = halved(interval);
    return sum + interval.weight * interval.width * interval.steps;
}

static double point[N] = {0.5, 1.25, -0.75, 0.8, 1.3, 0.6};

static void setup(void)
{
    corpus_seed(77);
    corpus_fill(data, DATA, -0.5, 1.5);
}

static double value(const double *x) { return objective(x); }

static double tangent(const double *x, const double *v)
{
    return __enzyme_fwddiff((void *)objective, enzyme_dup, x, v);
}

static void gradient(const double *x, double *g)
{
    corpus_zero(g, N);
    __enzyme_autodiff((void *)objective, enzyme_dup, x, g);
}

static const struct corpus_problem problem = {
    .name = "small_structures",
    .size = N,
    .point = point,
    .setup = setup,
    .value = value,
    .tangent = tangent,
    .gradient = gradient,
    .coordinates = CORPUS_ALL,
    .step = 1.0 / 64.0, // sizes and weights are rounded to float
    .fd_tolerance = 2e-4, // likewise
    .dot_tolerance = 1e-6, // likewise
};

CORPUS_MAIN(&problem)
