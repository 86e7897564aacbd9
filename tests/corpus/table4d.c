// Multilinear interpolation in a four-dimensional table by recursion over the dimensions, axes of different lengths
// through an array of pointers; an engine map is swept along a drive cycle. Active: the table and the cycle's loads.
#include "corpus.h"

enum { DIMENSIONS = 4 };

struct axis {
    unsigned char count;
    const double *knots;
};

static double lookup(const struct axis *axes, const double *table, const double *at, int dimensions)
{
    if (dimensions == 0)
        return *table;
    const struct axis *axis = axes;
    int stride = 1, i = 0;
    for (int d = 1; d < dimensions; d++)
        stride *= axes[d].count;
    while (i < axis->count - 2 && at[0] > axis->knots[i + 1])
        i++;
    double share = (at[0] - axis->knots[i]) / (axis->knots[i + 1] - axis->knots[i]);
    double low = lookup(axes + 1, table + i * stride, at + 1, dimensions - 1);
    double high = lookup(axes + 1, table + (i + 1) * stride, at + 1, dimensions - 1);
    return low + share * (high - low);
}

static double cycle_loss(const double *table, const double *loads, int count)
{
    static const double speed[] = {0.0, 1.0, 2.5, 4.0, 6.0}, load[] = {0.0, 0.3, 0.7, 1.0};
    static const double heat[] = {0.0, 0.5, 1.0}, mix[] = {0.8, 1.0, 1.3};
    const struct axis axes[DIMENSIONS] = {{5, speed}, {4, load}, {3, heat}, {3, mix}};
    double temperature = 0.1, revolutions = 1.2, fuel = 0.0;
    for (int t = 0; t < count; t++) {
        double at[DIMENSIONS] = {revolutions, loads[t], temperature, 1.0 + 0.2 * sin(0.3 * t)};
        double torque = lookup(axes, table, at, DIMENSIONS);
        revolutions += 0.1 * (torque - 0.2 * revolutions);
        temperature += 0.02 * (loads[t] + 0.1 * torque - temperature);
        fuel += torque * revolutions * 0.01;
    }
    return fuel + revolutions * revolutions;
}

enum { TABLE = 5 * 4 * 3 * 3, COUNT = CORPUS_SIZE(60, 6), SIZE = TABLE + COUNT };

static double point[SIZE];

static void setup(void)
{
    corpus_seed(219);
    corpus_fill(point, TABLE, 0.1, 1.0);
    corpus_fill(point + TABLE, COUNT, 0.1, 0.9);
}

static double value(const double *x)
{
    return cycle_loss(x, x + TABLE, COUNT);
}

static double tangent(const double *x, const double *v)
{
    return __enzyme_fwddiff((void *)cycle_loss, enzyme_dup, x, v, enzyme_dup, x + TABLE, v + TABLE, enzyme_const,
                            COUNT);
}

static void gradient(const double *x, double *g)
{
    corpus_zero(g, SIZE);
    __enzyme_autodiff((void *)cycle_loss, enzyme_dup, x, g, enzyme_dup, x + TABLE, g + TABLE, enzyme_const, COUNT);
}

static const struct corpus_problem problem = {
    .name = "table4d",
    .size = SIZE,
    .point = point,
    .setup = setup,
    .value = value,
    .tangent = tangent,
    .gradient = gradient,
    .step = 0x1p-20, // no lookup changes its cell
    .fd_tolerance = 1e-5, // rounding over a small step
};

CORPUS_MAIN(&problem)
