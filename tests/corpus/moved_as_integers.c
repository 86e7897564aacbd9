// Floats that move as integers: those of a row are put together to a vector of integers and taken apart again, by hand as
// a vectoriser does it; and constants that stand over a row in memory which is seen together with a constant table.
#include <math.h>
#include <string.h>

#include "corpus.h"

typedef long long pair __attribute__((vector_size(16)));

enum { N = 6 };

static const double table[8] = {-0.49, 1.03, 1.04, 1.06, 1.2, 0.23, -1.36, 1.13};

// A permutation of a row by way of vectors of integers.
static void swap_pairs(double *to, const double *from)
{
    for (int i = 0; i + 1 < N; i += 2) {
        long long a, b;
        memcpy(&a, from + i, sizeof a);
        memcpy(&b, from + i + 1, sizeof b);
        pair v = {b, a};
        memcpy(to + i, &v, sizeof v);
    }
}

static double swapped(const double *x)
{
    double row[N], sum = 0;
    swap_pairs(row, x);
    for (int i = 0; i < N; i++)
        sum += (i + 1) * row[i] * row[i] * x[i];
    return sum;
}

// Parts of a vector that was read whole.
static double taken_apart(const double *x)
{
    double row[N], sum = 0;
    for (int i = 0; i + 1 < N; i += 2) {
        pair v;
        memcpy(&v, x + i, sizeof v);
        long long a = v[1], b = v[0];
        memcpy(row + i, &a, sizeof a);
        memcpy(row + i + 1, &b, sizeof b);
    }
    for (int i = 0; i < N; i++)
        sum += (i + 1) * row[i] * sin(x[i]);
    return sum;
}

// The first number of `start` is copied over a row that a choice connects with the table.
static double over_a_row(const double *x)
{
    double row[8], sum = 0;
    for (int i = 0; i < 8; i++)
        row[i] = 0.5;
    double start[4] = {0.5, 0.5, row[1] >= 0.5 ? row[3] : table[3]};
    memcpy(row, start, sizeof(double));
    for (int i = 0; i < 4; i += 2)
        row[1] = x[i] * x[i + 1];
    for (int i = 0; i < 8; i++)
        sum += (0.46 + 0.1 * i) * row[i];
    for (int i = 0; i < 4; i++)
        sum += (0.17 + 0.1 * i) * start[i];
    return sum * x[4] + x[5];
}

// The sum of the three.
static double loss(const double *x) { return swapped(x) + taken_apart(x) + over_a_row(x); }

static double point[N];

static void setup(void)
{
    corpus_seed(139);
    corpus_fill(point, N, 0.2, 0.9);
}

static double value(const double *x) { return loss(x); }

static double tangent(const double *x, const double *v)
{
    return __enzyme_fwddiff((void *)loss, enzyme_dup, x, v);
}

static void gradient(const double *x, double *g)
{
    corpus_zero(g, N);
    __enzyme_autodiff((void *)loss, enzyme_dup, x, g);
}

static const struct corpus_problem problem = {
    .name = "moved_as_integers",
    .size = N,
    .point = point,
    .setup = setup,
    .value = value,
    .tangent = tangent,
    .gradient = gradient,
};

CORPUS_MAIN(&problem)
