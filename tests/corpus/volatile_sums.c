// Volatile objects in numerical code: compensated summation whose temporaries are volatile so that no compiler
// simplifies them away, a volatile counter, and a device register that is written for every sample.
// Source: Neumaier, Z. Angew. Math. Mech. 54 (1974), the improved Kahan-Babuska sum.
#include "corpus.h"

static volatile double meter_register;
static volatile unsigned samples;

static double compensated_sum(const double *values, int count)
{
    volatile double sum = 0.0, correction = 0.0;
    for (int i = 0; i < count; i++) {
        volatile double total = sum + values[i];
        if (fabs(sum) >= fabs(values[i]))
            correction += (sum - total) + values[i];
        else
            correction += (values[i] - total) + sum;
        sum = total;
    }
    return sum + correction;
}

static double variance_loss(const double *values, int count, int windows)
{
    double scratch[64], loss = 0.0;
    samples = 0;
    for (int w = 0; w < windows; w++) {
        double mean = compensated_sum(values + w, count) / count;
        for (int i = 0; i < count; i++) {
            double d = values[w + i] - mean;
            scratch[i] = d * d;
            samples++;
        }
        double variance = compensated_sum(scratch, count) / (count - 1);
        meter_register = variance;
        loss += sqrt(variance) / (1.0 + mean * mean) + 0.01 * samples * variance;
    }
    return loss;
}

enum { COUNT = CORPUS_SIZE(40, 4), WINDOWS = CORPUS_SIZE(15, 3), SIZE = COUNT + WINDOWS };

static double point[SIZE];

static void setup(void)
{
    corpus_seed(133);
    corpus_fill(point, SIZE, -1.0, 1.0);
}

static double value(const double *x)
{
    return variance_loss(x, COUNT, WINDOWS);
}

static double tangent(const double *x, const double *v)
{
    return __enzyme_fwddiff((void *)variance_loss, enzyme_dup, x, v, enzyme_const, COUNT, enzyme_const, WINDOWS);
}

static void gradient(const double *x, double *g)
{
    corpus_zero(g, SIZE);
    __enzyme_autodiff((void *)variance_loss, enzyme_dup, x, g, enzyme_const, COUNT, enzyme_const, WINDOWS);
}

static const struct corpus_problem problem = {
    .name = "volatile_sums",
    .size = SIZE,
    .point = point,
    .setup = setup,
    .value = value,
    .tangent = tangent,
    .gradient = gradient,
};

CORPUS_MAIN(&problem)
