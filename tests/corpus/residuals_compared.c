// A solver in the style of MINPACK's `hybrd`: a trust region's radius follows from how well a step was predicted, which
// only conditions ask for. Its norms are functions of their own, and those of full Newton steps are the roots of exact
// zeros, whose slopes are infinite; reports go through a callback that nobody gave.
// Source: More, Garbow, Hillstrom, "User Guide for MINPACK-1", Argonne report ANL-80-74 (1980).
#include "corpus.h"

enum { N = 4, SIZE = 2 };

struct system {
    void (*residual)(const double *p, const double *v, double *f);
    void (*report)(int iteration, const double *v, double norm);
    const double *parameters;
    int trials;
};

static int reports;

// As a library reports an index out of range; it may return.
typedef void handler(const char *reason, int index);
static handler *on_error;

__attribute__((noinline)) static void complain(const char *reason, int index)
{
    reports++;
    if (on_error)
        on_error(reason, index);
}

__attribute__((noinline)) static double at(const double *v, int size, int i)
{
    if (i >= size)
        complain("index out of range", i);
    return v[i];
}

__attribute__((noinline)) static double norm_of_sum(const double *a, const double *b)
{
    double sum = 0.0;
    for (int i = 0; i < SIZE; i++) {
        double u = at(a, SIZE, i) + at(b, SIZE, i);
        sum += u * u;
    }
    return sqrt(sum);
}

__attribute__((noinline)) static double reduction(double before, double after)
{
    if (after < before) {
        double u = after / before;
        return 1.0 - u * u;
    }
    return 0.0;
}

static void residual(const double *p, const double *v, double *f)
{
    f[0] = p[0] * (1.0 - v[0]) + v[1] * v[1] - p[1];
    f[1] = p[3] * (v[1] - v[0] * v[0]) + p[2];
}

__attribute__((noinline)) static int iterate(struct system *s, double *v, int iteration)
{
    const double *p = s->parameters;
    double f[SIZE], step[SIZE], change[SIZE], trial[SIZE], next[SIZE], zero[SIZE] = {0.0, 0.0};
    s->residual(p, v, f);
    double a = -p[0], b = 2.0 * v[1], c = -2.0 * p[3] * v[0], d = p[3], det = a * d - b * c;
    step[0] = (b * f[1] - d * f[0]) / det;
    step[1] = (c * f[0] - a * f[1]) / det;
    for (int i = 0; i < SIZE; i++) {
        change[i] = -f[i];
        trial[i] = v[i] + step[i];
    }
    s->residual(p, trial, next);
    double before = norm_of_sum(f, zero), after = norm_of_sum(next, zero);
    double actual = reduction(before, after), predicted = reduction(before, norm_of_sum(f, change));
    if (s->report)
        s->report(iteration, v, before);
    s->trials++;
    double ratio = predicted > 0.0 ? actual / predicted : 0.0;
    if (ratio < 1e-4)
        return 0;
    for (int i = 0; i < SIZE; i++)
        v[i] = trial[i];
    return norm_of_sum(v, zero) > 0.0 && before > 1e-13;
}

__attribute__((noinline)) static int descend(struct system *s, double *v, int iteration)
{
    double f[SIZE], zero[SIZE] = {0.0, 0.0};
    s->residual(s->parameters, v, f);
    if (s->report)
        s->report(iteration, v, norm_of_sum(f, zero));
    for (int i = 0; i < SIZE; i++)
        v[i] -= 0.1 * f[i];
    return iteration < 3;
}

typedef void report(int iteration, const double *v, double norm);
typedef int step(struct system *s, double *v, int iteration);
int method;

__attribute__((noinline)) static double solve(const double *x, report *report, int restarts)
{
    struct system s = {.residual = residual, .report = report, .parameters = x};
    double v[SIZE] = {1.0, 1.2};
    step *advance = method == 0 ? iterate : descend;
    for (int i = 0; i < 40 && advance(&s, v, i); i++)
        ;
    double f[SIZE], zero[SIZE] = {0.0, 0.0};
    residual(x, v, f);
    return restarts == 0 || norm_of_sum(f, zero) < 1e-8 ? v[0] + 2.0 * v[1] : solve(x, report, restarts - 1);
}

static double root(const double *x)
{
    return solve(x, NULL, 3);
}

static double point[N] = {0.7, 1.3, 0.4, 2.1};

static double value(const double *x)
{
    return root(x);
}

static double tangent(const double *x, const double *v)
{
    return __enzyme_fwddiff((void *)root, enzyme_dup, x, v);
}

static void gradient(const double *x, double *g)
{
    corpus_zero(g, N);
    __enzyme_autodiff((void *)root, enzyme_dup, x, g);
}

static const struct corpus_problem problem = {
    .name = "residuals_compared",
    .size = N,
    .point = point,
    .value = value,
    .tangent = tangent,
    .gradient = gradient,
    .coordinates = CORPUS_ALL,
};

CORPUS_MAIN(&problem)
