// Cells of a table that hold a number or a count, in one place, as values that functions take and return which are not
// inlined: LLVM has one value for both, whose bits are the count's at times.
//
// corpus: levels O0 O2 O3 Og
// corpus: native
#include "corpus.h"

enum { N = 6 };

struct cell {
    union {
        double number;
        long count;
    };
    char counts;
};

__attribute__((noinline)) static struct cell cell_of(const double *x, int i)
{
    struct cell cell = {.counts = i % 3 == 1};
    if (cell.counts)
        cell.count = i;
    else
        cell.number = x[i] * x[(i + 1) % N];
    return cell;
}

__attribute__((noinline)) static double amount(struct cell cell, double unit)
{
    return cell.counts ? unit * (double)cell.count : cell.number;
}

static double objective(const double *x)
{
    double sum = 0.0;
    for (int i = 0; i < N; i++)
        sum += amount(cell_of(x, i), x[4]) * (1.0 + 0.25 * i);
    return sum;
}

static double point[N] = {0.5, 1.25, -0.75, 0.8, 1.3, 0.6};

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
    .name = "numbers_or_counts",
    .size = N,
    .point = point,
    .value = value,
    .tangent = tangent,
    .gradient = gradient,
    .coordinates = CORPUS_ALL,
};

CORPUS_MAIN(&problem)
