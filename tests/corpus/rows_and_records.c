// Weighted readings that come from plain rows or from records with an index beside the number, through one pointer: rows
// are then moved, cleared and read again. What one pointer may lead to is looked at together, and an index of a record lies
// where a row has a number; neither the copy nor the clearing of a row may take the number for an index.
//
// loss = sum of weights times readings, squared where they come from records.
// Source: made for this corpus; found by the generator of random programs.
#include "corpus.h"

enum { ROW = 8, RECORDS = 4, SIZE = 2 * ROW };

struct record {
    int index;
    double level;
};

struct station {
    double base;
    double *row;
    double own[4];
    int index;
};

// One reading is a number of a record or of a row; the row is then copied.
static double moved(double *restrict a, double *restrict b, int n)
{
    struct record records[RECORDS];
    for (int i = 0; i < RECORDS; i++)
        records[i] = (struct record){.index = n & 15, .level = atan2(b[(a[(n ^ i) & 7] < 0.3 ? n : 0) & 7], 3.0)};
    double reading = tanh(((-1.4 <= b[n & 7]) ? records[(n >> 1) & 3].level : a[n & 7]) +
                          b[records[(5 ^ n) & 3].index & 7] * a[(n ^ 2) & 7]);
    for (int i = 0; i <= (n & 7); i++)
        memcpy(b, a, 5 * sizeof(double));
    return reading;
}

// A table of rows, one of them within a structure; one row is cleared.
static void cleared(double *a, double *b, double s, int n, double *out)
{
    struct station here = {.base = -a[n & 1], .row = a, .own = {s, a[1], -0.94}, .index = n & 15};
    double *table[4] = {b, here.row, b, here.own};
    double sum = here.base;
    if (b[n & 7] >= -2.0)
        memset(b, 0, 7 * sizeof(double));
    for (int i = 0; i < 4; i++)
        sum += (0.84 - 0.1 * i) * table[i][i];
    *out += sum;
}

static double run_moved(double *x, int n)
{
    double sum = moved(x, x + ROW, n);
    for (int i = 0; i < SIZE; i++)
        sum += (0.5 + 0.1 * i) * x[i] * x[i];
    return sum;
}

static double point[SIZE], work[SIZE];

static void setup(void)
{
    corpus_seed(83);
    corpus_fill(point, SIZE, -0.8, 0.9);
}

static double value(const double *x)
{
    double out = 0.0;
    corpus_copy(work, x, SIZE);
    out = run_moved(work, 3);
    corpus_copy(work, x, SIZE);
    cleared(work, work + ROW, 0.7, 3, &out);
    return out;
}

static double tangent(const double *x, const double *v)
{
    double shadow[SIZE], out = 0.0, more = 0.0;
    corpus_copy(work, x, SIZE);
    corpus_copy(shadow, v, SIZE);
    double first = __enzyme_fwddiff((void *)run_moved, enzyme_dup, work, shadow, enzyme_const, 3);
    corpus_copy(work, x, SIZE);
    corpus_copy(shadow, v, SIZE);
    __enzyme_fwddiff_void((void *)cleared, enzyme_dup, work, shadow, enzyme_dup, work + ROW, shadow + ROW, enzyme_const,
                          0.7, enzyme_const, 3, enzyme_dup, &out, &more);
    return first + more;
}

// The row that is cleared has an adjoint before: it must be gone afterwards.
static void gradient(const double *x, double *g)
{
    double shadow[SIZE], out = 0.0, seed = 1.0;
    corpus_copy(work, x, SIZE);
    corpus_zero(g, SIZE);
    __enzyme_autodiff((void *)run_moved, enzyme_dup, work, g, enzyme_const, 3);
    corpus_copy(work, x, SIZE);
    corpus_zero(shadow, SIZE);
    for (int i = ROW; i < SIZE - 1; i++)
        shadow[i] = 100.0;
    __enzyme_autodiff_void((void *)cleared, enzyme_dup, work, shadow, enzyme_dup, work + ROW, shadow + ROW,
                           enzyme_const, 0.7, enzyme_const, 3, enzyme_dup, &out, &seed);
    for (int i = 0; i < SIZE; i++)
        g[i] += shadow[i];
}

static const struct corpus_problem problem = {
    .name = "rows_and_records",
    .size = SIZE,
    .point = point,
    .setup = setup,
    .value = value,
    .tangent = tangent,
    .gradient = gradient,
};

CORPUS_MAIN(&problem)
