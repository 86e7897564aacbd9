// A function that sees a record of its own and an array of its caller through one table of pointers, so that fields lie where
// numbers lie: the caller, which knows the array alone, fills it, and every adjoint in it is lost with what was there.
//
// loss = product of what is read at each depth, and what is read of the array after it was filled.
// Source: none; the shape is that of a program with a cursor into a record or into rows of data.
#include "corpus.h"

enum { SIZE = 8 };

struct record {
    double values[4];
    char tag;
    int count;
    double weight;
    double *row;
};

__attribute__((noinline)) static double read_both(double *row, int depth)
{
    struct record r = {.values = {0.5, row[0], 0.25}, .tag = (char)depth, .count = depth + 1, .weight = 0.5, .row = row};
    double *at[4] = {r.values, r.row, r.values, r.row}, sum = 0.0;
    for (int i = 0; i < 4; i++)
        sum += (0.76 - 0.1 * i) * at[i][(i * depth + 1) & 3];
    r.weight = sin(r.weight + sum);
    row[depth & 3] = 0.5 * r.weight;
    if (depth > 0)
        sum *= read_both(row, depth - 1);
    return sum * r.weight * r.count;
}

static double run(double *b, int n)
{
    double sum = read_both(b + 1, n);
    memset(b, 0, SIZE * sizeof *b);
    for (int i = 0; i < SIZE; i++)
        sum += (0.63 + 0.1 * i) * b[i];
    return sum;
}

static double point[SIZE], work[SIZE];

static void setup(void)
{
    corpus_seed(140);
    corpus_fill(point, SIZE, 0.2, 0.9);
}

static double value(const double *x)
{
    corpus_copy(work, x, SIZE);
    return run(work, 3);
}

static double tangent(const double *x, const double *v)
{
    double shadow[SIZE];
    corpus_copy(work, x, SIZE);
    corpus_copy(shadow, v, SIZE);
    return __enzyme_fwddiff((void *)run, enzyme_dup, work, shadow, enzyme_const, 3);
}

static void gradient(const double *x, double *g)
{
    corpus_copy(work, x, SIZE);
    corpus_zero(g, SIZE);
    __enzyme_autodiff((void *)run, enzyme_dup, work, g, enzyme_const, 3);
}

// What is filled with zero depends on nothing, whatever its adjoint is.
static int extra(void)
{
    double g[SIZE], with[SIZE], wrong = 0.0;
    gradient(point, g);
    corpus_copy(work, point, SIZE);
    for (int i = 0; i < SIZE; i++)
        with[i] = 1.0 + i;
    __enzyme_autodiff((void *)run, enzyme_dup, work, with, enzyme_const, 3);
    for (int i = 0; i < SIZE; i++)
        wrong = fmax(wrong, fabs(with[i] - g[i]));
    // The same sums.
    return corpus_check("adjoints", "of what was filled", wrong, 1e-15);
}

static const struct corpus_problem problem = {
    .name = "records_and_rows",
    .size = SIZE,
    .point = point,
    .setup = setup,
    .value = value,
    .tangent = tangent,
    .gradient = gradient,
    .extra = extra,
};

CORPUS_MAIN(&problem)
