// Memory with an alignment: aligned_alloc, posix_memalign, memalign, and a block aligned by hand in a larger one.
#define _GNU_SOURCE
#include "corpus.h"

#include <malloc.h>

enum { SIZE = CORPUS_SIZE(32, 8) };

static double by_hand(const double *x, int n)
{
    char *block = malloc((size_t)n * sizeof(double) + 63);
    double *values = (double *)(((uintptr_t)block + 63) & ~(uintptr_t)63), sum = 0.0;
    for (int i = 0; i < n; i++)
        values[i] = x[i] * x[i];
    for (int i = 1; i < n; i++)
        sum += values[i] * values[i - 1];
    free(block);
    return sum;
}

static double by_library(const double *x, int n)
{
    void *first = NULL;
    double *second = aligned_alloc(64, (size_t)n * sizeof(double)), *third = memalign(32, (size_t)n * sizeof(double));
    if (posix_memalign(&first, 128, (size_t)n * sizeof(double)))
        abort();
    double *values = first, sum = 0.0;
    for (int i = 0; i < n; i++) {
        values[i] = sin(x[i]);
        second[i] = values[i] * x[n - 1 - i];
        third[i] = second[i / 2] + values[i / 3];
    }
    for (int i = 0; i < n; i++)
        sum += values[i] * second[i] * third[i];
    free(first);
    free(second);
    free(third);
    return sum;
}

static double aligned_loss(const double *x, int n)
{
    return by_hand(x, n) + by_library(x, n);
}

static double point[SIZE];

static void setup(void)
{
    corpus_seed(7);
    corpus_fill(point, SIZE, 0.3, 0.9);
}

static double value(const double *x)
{
    return aligned_loss(x, SIZE);
}

static double tangent(const double *x, const double *v)
{
    return __enzyme_fwddiff((void *)aligned_loss, enzyme_dup, x, v, enzyme_const, SIZE);
}

static void gradient(const double *x, double *g)
{
    corpus_zero(g, SIZE);
    __enzyme_autodiff((void *)aligned_loss, enzyme_dup, x, g, enzyme_const, SIZE);
}

static const struct corpus_problem problem = {
    .name = "memory_aligned",
    .size = SIZE,
    .point = point,
    .setup = setup,
    .value = value,
    .tangent = tangent,
    .gradient = gradient,
};

CORPUS_MAIN(&problem)
