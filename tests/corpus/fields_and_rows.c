// A pointer that leads to an array in one iteration and to a structure in another, which mixes floats and integers: what
// is filled or copied in the array is floats throughout, whatever lies in the structure at the same place.
//
// Both are filled with zero, copied over each other's rows, and read before and after. loss = sum of what is read.
// Source: none; the shape is that of a program with a record and rows of data under one cursor.
#include "corpus.h"

enum { ROW = 8, SIZE = 2 * ROW };

struct record {
    double values[4];
    int kind;
    int count;
    double weight, spare[2];
    double *row; // behind what a row has
};

__attribute__((noinline)) static double read_through(struct record *r, int k)
{
    double *at = r->row, sum = 0.0;
    for (int i = 0; i < 4; i++) {
        if (r->values[1] > 0.4 + 0.1 * k)
            at = r->values;
        sum += (1.0 + 0.1 * i) * at[i] * r->row[i + 4];
    }
    r->weight = sin(r->weight + sum);
    return r->weight * r->count + r->kind * sum;
}

static double run(double *x, double *y, int n)
{
    struct record one = {.values = {0.5, 0.6, 0.7, 0.8}, .kind = 2, .count = 3, .weight = 0.5, .row = x};
    double loss = 0.0;
    for (int k = 0; k < n; k++) {
        loss += read_through(&one, k);
        one.row = one.row == x ? y : x;
    }
    memcpy(y, x, sizeof(double) * ROW);
    loss += read_through(&one, 9);
    memset(x, 0, sizeof(double) * ROW);
    for (int i = 0; i < ROW; i++)
        loss += 0.5 * y[i] * y[i] + x[i];
    return loss;
}

static double point[SIZE], work[SIZE];

static void setup(void)
{
    corpus_seed(137);
    corpus_fill(point, SIZE, 0.2, 0.9);
}

static double value(const double *x)
{
    corpus_copy(work, x, SIZE);
    return run(work, work + ROW, 5);
}

static double tangent(const double *x, const double *v)
{
    double shadow[SIZE];
    corpus_copy(work, x, SIZE);
    corpus_copy(shadow, v, SIZE);
    return __enzyme_fwddiff((void *)run, enzyme_dup, work, shadow, enzyme_dup, work + ROW, shadow + ROW, enzyme_const, 5);
}

// The shadows hold ones where the function begins: the adjoints of what it leaves in its arrays.
static void gradient(const double *x, double *g)
{
    double ones[SIZE];
    corpus_copy(work, x, SIZE);
    for (int i = 0; i < SIZE; i++)
        ones[i] = 0.0;
    __enzyme_autodiff((void *)run, enzyme_dup, work, ones, enzyme_dup, work + ROW, ones + ROW, enzyme_const, 5);
    corpus_copy(g, ones, SIZE);
}

// What it leaves is zero in x, and a copy of x in y: adjoints of x there are lost, those of y go to x, and none stay.
static int extra(void)
{
    double shadow[SIZE], g[SIZE];
    gradient(point, g);
    corpus_copy(work, point, SIZE);
    for (int i = 0; i < SIZE; i++)
        shadow[i] = i < ROW ? 100.0 : 1.0 + i;
    __enzyme_autodiff((void *)run, enzyme_dup, work, shadow, enzyme_dup, work + ROW, shadow + ROW, enzyme_const, 5);
    double wrong = 0.0;
    for (int i = 0; i < SIZE; i++)
        wrong = fmax(wrong, fabs(shadow[i] - g[i] - (i < ROW ? 1.0 + i + ROW : 0.0)));
    // Rounding of sums of numbers of about ten.
    return corpus_check("adjoints", "of what is left", wrong, 1e-12);
}

static const struct corpus_problem problem = {
    .name = "fields_and_rows",
    .size = SIZE,
    .point = point,
    .setup = setup,
    .value = value,
    .tangent = tangent,
    .gradient = gradient,
    .extra = extra,
};

CORPUS_MAIN(&problem)
