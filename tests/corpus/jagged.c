// corpus: valgrind
// Jagged rows that grow one by one: each row is an array of its own with length and capacity, enlarged by realloc, a
// table of rows enlarged as well. Samples are binned by an inactive key; loss = sum over bins of variance and
// skewness.
#include "corpus.h"

struct row {
    unsigned short count, room;
    double *values;
};

struct bins {
    int count, room;
    struct row *rows;
};

static void add(struct bins *bins, int key, double value)
{
    while (key >= bins->count) {
        if (bins->count == bins->room) {
            bins->room = bins->room ? bins->room * 2 : 2;
            bins->rows = realloc(bins->rows, sizeof(struct row) * (size_t)bins->room);
        }
        bins->rows[bins->count++] = (struct row){0, 0, NULL};
    }
    struct row *row = &bins->rows[key];
    if (row->count == row->room) {
        row->room = (unsigned short)(row->room + 3);
        row->values = realloc(row->values, sizeof(double) * row->room);
    }
    row->values[row->count++] = value;
}

static double binned_loss(const double *values, const int *keys, int count)
{
    struct bins bins = {0, 0, NULL};
    double loss = 0.0;
    for (int i = 0; i < count; i++) {
        add(&bins, keys[i], values[i]);
        if (i % 10 == 9)
            add(&bins, keys[i - 3], bins.rows[keys[i]].values[0] * values[i]);
    }
    for (int b = 0; b < bins.count; b++) {
        const struct row *row = &bins.rows[b];
        double mean = 0.0;
        for (int i = 0; i < row->count; i++)
            mean += row->values[i] / row->count;
        for (int i = 0; i < row->count; i++) {
            double d = row->values[i] - mean;
            loss += d * d * (1.0 + 0.2 * d) / row->count;
        }
    }
    while (bins.count-- > 0)
        free(bins.rows[bins.count].values);
    free(bins.rows);
    return loss;
}

enum { SIZE = CORPUS_SIZE(150, 12) };

static double point[SIZE];
static int keys[SIZE];

static void setup(void)
{
    corpus_seed(197);
    corpus_fill(point, SIZE, -1.0, 1.0);
    for (int i = 0; i < SIZE; i++)
        keys[i] = (i * 7 + i / 4) % 9;
}

static double value(const double *x)
{
    return binned_loss(x, keys, SIZE);
}

static double tangent(const double *x, const double *v)
{
    return __enzyme_fwddiff((void *)binned_loss, enzyme_dup, x, v, enzyme_const, keys, enzyme_const, SIZE);
}

static void gradient(const double *x, double *g)
{
    corpus_zero(g, SIZE);
    __enzyme_autodiff((void *)binned_loss, enzyme_dup, x, g, enzyme_const, keys, enzyme_const, SIZE);
}

static const struct corpus_problem problem = {
    .name = "jagged",
    .size = SIZE,
    .point = point,
    .setup = setup,
    .value = value,
    .tangent = tangent,
    .gradient = gradient,
};

CORPUS_MAIN(&problem)
