// Two functions that call themselves twice, in memory that is active in one call and constant in another: what is found of one
// call changes what is asked of the next, until nothing changes any more.
//
// Source: Hascoët, Pascual, "The Tapenade automatic differentiation tool", section 4.4 (activity, call by call).
#include "corpus.h"

enum { N = 8, SIZE = 2 * N };

__attribute__((noinline)) static double walk(int depth, double x, double *p)
{
    if (depth <= 0)
        return sin(x - 0.3);
    if (depth & 1)
        p[depth & 3] = 0.7;
    double both = walk(depth - 1, sqrt(x + 2.5), p) * walk(depth - 2, 0.5 * x, p);
    return x * (0.49 + both) / (p[0] + 4.66);
}

__attribute__((noinline)) static double climb(int depth, double x, double *p)
{
    if (depth <= 0)
        return pow(3.35, 0.15);
    if (depth & 1)
        p[depth & 3] = walk(1, 0.78, p);
    double both = climb(depth - 1, sqrt(sin(0.13) + 1.5), p) * climb(depth - 2, 0.5 * x, p);
    return fmax(x, walk(1, both, p));
}

static double run(const double *a, double *b, int n)
{
    double table[N];
    for (int i = 0; i < 4 + (n & 3); i++)
        table[i] = sqrt(1.28);
    double sum = walk(n & 3, a[3], b);
    sum += climb(1, sin(b[7]), b + 3);
    sum += walk(1, b[1], b);
    sum += climb(2, 0.1, table);
    for (int i = 0; i < N; i++)
        sum += (0.5 + i) * b[i];
    return sum + table[1];
}

static double point[SIZE], work[N];

static void setup(void)
{
    corpus_seed(93);
    corpus_fill(point, SIZE, 0.2, 0.9);
}

static double value(const double *x)
{
    corpus_copy(work, x + N, N);
    return run(x, work, 6);
}

static double tangent(const double *x, const double *v)
{
    double shadow[N];
    corpus_copy(work, x + N, N);
    corpus_copy(shadow, v + N, N);
    return __enzyme_fwddiff((void *)run, enzyme_dup, x, v, enzyme_dup, work, shadow, enzyme_const, 6);
}

static void gradient(const double *x, double *g)
{
    corpus_copy(work, x + N, N);
    corpus_zero(g, SIZE);
    __enzyme_autodiff((void *)run, enzyme_dup, x, g, enzyme_dup, work, g + N, enzyme_const, 6);
}

static const struct corpus_problem problem = {
    .name = "recursion_in_contexts",
    .size = SIZE,
    .point = point,
    .setup = setup,
    .value = value,
    .tangent = tangent,
    .gradient = gradient,
};

CORPUS_MAIN(&problem)
