// corpus: levels O0 O1 O2 O3
// Sorting by the C library, in descending and ascending order, of numbers and of records that hold a number, a rank and a
// weight: an L-statistic, which weighs the values by their position, and the Gini coefficient of weighted values.
// corpus: coverage O0
#include "corpus.h"

enum { N = CORPUS_SIZE(17, 5) };

struct record {
    double value;
    int rank;
    double weight;
};

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static int descending(const void *a, const void *b)
{
    return -ascending(a, b);
}

static int by_value(const void *a, const void *b)
{
    const struct record *x = a, *y = b;
    return (x->value > y->value) - (x->value < y->value);
}

static int by_rank(const void *a, const void *b)
{
    const struct record *x = a, *y = b;
    return x->rank - y->rank;
}

static double statistic(const double *x, double (*transform)(double))
{
    double values[N], result = 0.0;
    for (int i = 0; i < N; i++)
        values[i] = transform(x[i]);
    qsort(values, N, sizeof(double), ascending);
    for (int i = 0; i < N; i++)
        result += (2.0 * i + 1.0 - N) / N * values[i] * values[i];
    qsort(values, N, sizeof *values, descending);
    for (int i = 0; i < N; i++)
        result += values[i] / (1.0 + i * values[i / 2]);
    return result;
}

static double gini(const double *x)
{
    struct record *records = malloc(N * sizeof(struct record));
    double mass = 0.0, lorenz = 0.0, reached = 0.0, order = 0.0;
    for (int i = 0; i < N; i++) {
        records[i].value = x[i] * x[i];
        records[i].rank = (7 * i) % N;
        records[i].weight = 1.0 + x[N - 1 - i];
    }
    qsort(records, N, sizeof(struct record), by_value);
    for (int i = 0; i < N; i++) {
        mass += records[i].weight;
        reached += records[i].weight * records[i].value;
        lorenz += records[i].weight * reached;
    }
    qsort(records, N, sizeof(struct record), by_rank);
    for (int i = 0; i < N; i++)
        order += records[i].rank * records[i].value * records[(i + 1) % N].weight;
    free(records);
    return 1.0 - 2.0 * lorenz / (mass * reached) + 0.01 * order;
}

static double both(const double *x)
{
    return statistic(x, exp) + gini(x);
}

static double point[N], shadow[N];

static void setup(void)
{
    // Well apart, so that differences do not change the order.
    for (int i = 0; i < N; i++)
        point[i] = 0.2 + 0.07 * ((5 * i) % N) + 0.003 * i;
}

static double tangent(const double *x, const double *v)
{
    corpus_copy(shadow, v, N);
    return __enzyme_fwddiff((void *)both, enzyme_dup, x, shadow);
}

static void gradient(const double *x, double *g)
{
    corpus_zero(g, N);
    __enzyme_autodiff((void *)both, enzyme_dup, x, g);
}

static const struct corpus_problem problem = {
    .name = "calls_qsort",
    .size = N,
    .point = point,
    .setup = setup,
    .value = both,
    .tangent = tangent,
    .gradient = gradient,
    .coordinates = CORPUS_ALL,
    .step = 0x1p-8, // values are at least 0.01 apart
};

CORPUS_MAIN(&problem)
