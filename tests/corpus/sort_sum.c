// Insertion sort in place of active data, then sum_i w_i s_i^2 over the sorted values s, and the median.
// The gradient is the permuted gradient of the weighted sum.
#include "corpus.h"

static void insertion_sort(double *values, int n)
{
    for (int i = 1; i < n; i++) {
        double moving = values[i];
        int j = i - 1;
        while (j >= 0 && values[j] > moving) {
            values[j + 1] = values[j];
            j--;
        }
        values[j + 1] = moving;
    }
}

static double sorted_sum(double *values, const double *weights, int n)
{
    double sum = 0.0;
    insertion_sort(values, n);
    for (int i = 0; i < n; i++)
        sum += weights[i] * values[i] * values[i];
    return sum + exp(values[n / 2]);
}

enum { SIZE = CORPUS_SIZE(150, 9) };

static double point[SIZE], weights[SIZE], work[SIZE], shadow[SIZE];

// No two values closer than 0.005: a shuffled ladder with some noise.
static void setup(void)
{
    corpus_seed(17);
    for (int i = 0; i < SIZE; i++)
        point[i] = 0.02 * ((i * 31) % SIZE) + corpus_uniform(0.0, 0.01) - 1.0;
    corpus_fill(weights, SIZE, -1.0, 1.0);
}

static double value(const double *x)
{
    corpus_copy(work, x, SIZE);
    return sorted_sum(work, weights, SIZE);
}

static double tangent(const double *x, const double *v)
{
    corpus_copy(work, x, SIZE);
    corpus_copy(shadow, v, SIZE);
    return __enzyme_fwddiff((void *)sorted_sum, enzyme_dup, work, shadow, enzyme_const, weights, enzyme_const, SIZE);
}

static void gradient(const double *x, double *g)
{
    corpus_copy(work, x, SIZE);
    corpus_zero(g, SIZE);
    __enzyme_autodiff((void *)sorted_sum, enzyme_dup, work, g, enzyme_const, weights, enzyme_const, SIZE);
}

static void gradient_by_rank(const double *x, double *g)
{
    for (int i = 0; i < SIZE; i++) {
        int rank = 0;
        for (int j = 0; j < SIZE; j++)
            rank += x[j] < x[i];
        g[i] = 2.0 * weights[rank] * x[i] + (rank == SIZE / 2 ? exp(x[i]) : 0.0);
    }
}

static const struct corpus_problem problem = {
    .name = "sort_sum",
    .size = SIZE,
    .point = point,
    .setup = setup,
    .value = value,
    .tangent = tangent,
    .gradient = gradient,
    .variants = {{.name = "gradient by rank", .gradient = gradient_by_rank}},
    .step = 0x1p-10, // less than half the gap between two values
};

CORPUS_MAIN(&problem)
