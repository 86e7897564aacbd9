// Recursive quicksort by Hoare's partition and a quickselect, both in place on active data: robust statistics of
// samples (trimmed mean, median absolute deviation, weighted sum of order statistics).
// Source: Hoare, "Quicksort", The Computer Journal 5 (1962).
#include "corpus.h"

static void swap(double *a, double *b)
{
    double t = *a;
    *a = *b;
    *b = t;
}

static int partition(double *v, int low, int high)
{
    double pivot = v[(low + high) / 2];
    int i = low - 1, j = high + 1;
    while (1) {
        do
            i++;
        while (v[i] < pivot);
        do
            j--;
        while (v[j] > pivot);
        if (i >= j)
            return j;
        swap(&v[i], &v[j]);
    }
}

static void quicksort(double *v, int low, int high)
{
    if (low >= high)
        return;
    int split = partition(v, low, high);
    quicksort(v, low, split);
    quicksort(v, split + 1, high);
}

static double quickselect(double *v, int low, int high, int k)
{
    if (low == high)
        return v[low];
    int split = partition(v, low, high);
    return k <= split ? quickselect(v, low, split, k) : quickselect(v, split + 1, high, k);
}

static double robust_loss(const double *samples, int count)
{
    double sorted[256], deviations[256];
    memcpy(sorted, samples, sizeof(double) * (size_t)count);
    double median = quickselect(sorted, 0, count - 1, count / 2);
    for (int i = 0; i < count; i++)
        deviations[i] = fabs(samples[i] - median);
    double mad = quickselect(deviations, 0, count - 1, count / 2);
    quicksort(sorted, 0, count - 1);
    int cut = count / 10;
    double trimmed = 0.0, gini = 0.0;
    for (int i = cut; i < count - cut; i++)
        trimmed += sorted[i] / (count - 2 * cut);
    for (int i = 0; i < count; i++)
        gini += (2.0 * i - count + 1.0) * sorted[i] / (count * count);
    return trimmed * trimmed + mad * gini + log(mad);
}

enum { SIZE = CORPUS_SIZE(150, 11) };

static double point[SIZE];

static void setup(void)
{
    corpus_seed(135);
    for (int i = 0; i < SIZE; i++)
        point[i] = 0.02 * ((i * 37) % SIZE) * (1.0 + 0.003 * i) + corpus_uniform(0.0, 0.004);
}

static double value(const double *x)
{
    return robust_loss(x, SIZE);
}

static double tangent(const double *x, const double *v)
{
    return __enzyme_fwddiff((void *)robust_loss, enzyme_dup, x, v, enzyme_const, SIZE);
}

static void gradient(const double *x, double *g)
{
    corpus_zero(g, SIZE);
    __enzyme_autodiff((void *)robust_loss, enzyme_dup, x, g, enzyme_const, SIZE);
}

static const struct corpus_problem problem = {
    .name = "quickselect",
    .size = SIZE,
    .point = point,
    .setup = setup,
    .value = value,
    .tangent = tangent,
    .gradient = gradient,
    .step = 0x1p-20, // no two samples or deviations change places
    .fd_tolerance = 1e-6, // rounding over a small step
};

CORPUS_MAIN(&problem)
