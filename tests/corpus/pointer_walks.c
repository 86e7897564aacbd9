// Pointers that walk through arrays by steps which only the run knows: a packed triangle by columns, records of different lengths
// behind each other, a cursor that skips by the sign of what it finds, another that goes back, one that starts in the middle;
// what is written goes through such pointers, too. One, and three tangents and adjoints side by side.
//
// loss = sum of what the walks collect, each weighted.
// Source: the packed storage of LAPACK (Users' Guide, section "Packed Storage") for the triangle.
#include "corpus.h"

enum { ROWS = CORPUS_SIZE(9, 5), SIZE = ROWS * (ROWS + 1) / 2 + 2 * ROWS, LANES = 3 };

extern int enzyme_width, enzyme_dupv;

struct lanes {
    double lane[LANES];
};

extern struct lanes __enzyme_fwddiff_lanes(void *function, ...);

// y = L x for the packed lower triangle.
__attribute__((noinline)) static void triangle(const double *packed, const double *x, double *y, int n)
{
    for (int column = 0; column < n; column++)
        for (int row = column; row < n; row++)
            y[row] += *packed++ * sin(x[column]);
}

// Records: as many products as the count says, each record summed into the place at hand, which moves on now and then.
__attribute__((noinline)) static double *records(const double *at, const int *counts, int n, double *to)
{
    for (int i = 0; i < n; i++) {
        double product = 1.0;
        for (int k = 0; k < counts[i]; k++)
            product *= 1.0 + 0.3 * *at++;
        *to += product * product;
        if (counts[i] & 1)
            to++;
    }
    return to;
}

// By the sign of what is found; back where a limit is reached.
__attribute__((noinline)) static double cursor(const double *from, const double *end, int steps)
{
    const double *at = from + (end - from) / 2;
    double sum = 0.0;
    for (int i = 0; i < steps; i++) {
        sum += *at * *at * (1 + i % 3);
        at += *at > 0.0 ? 2 : 1;
        if (at >= end)
            at -= end - from;
    }
    return sum;
}

static double run(const double *x, const int *counts, int n)
{
    double y[ROWS + 1] = {0.0}, loss = 0.0;
    triangle(x, x + n * (n + 1) / 2, y, n);
    double *last = records(x + 2, counts, n, y);
    loss += cursor(x, x + SIZE, 4 * n);
    loss += cursor(y, last, n);
    for (int i = 0; i < n; i++)
        loss += 0.1 * (i + 1) * y[i] * y[i];
    return loss;
}

static double point[SIZE];
static int counts[ROWS];

static void setup(void)
{
    corpus_seed(131);
    corpus_fill(point, SIZE, -0.9, 0.9);
    for (int i = 0; i < ROWS; i++)
        counts[i] = i % 4;
}

static double value(const double *x)
{
    return run(x, counts, ROWS);
}

static double tangent(const double *x, const double *v)
{
    return __enzyme_fwddiff((void *)run, enzyme_dup, x, v, enzyme_const, counts, enzyme_const, ROWS);
}

static void gradient(const double *x, double *g)
{
    corpus_zero(g, SIZE);
    __enzyme_autodiff((void *)run, enzyme_dup, x, g, enzyme_const, counts, enzyme_const, ROWS);
}

static void into(const double *x, const int *records, int n, double *result)
{
    *result = run(x, records, n);
}

// Lane l has seed l + 1.
static void gradient_of_lanes(const double *x, double *g)
{
    static double shadows[LANES][SIZE];
    double result = 0.0, seeds[LANES] = {1.0, 2.0, 3.0};
    memset(shadows, 0, sizeof shadows);
    __enzyme_autodiff_void((void *)into, enzyme_width, LANES, enzyme_dupv, sizeof shadows[0], x, shadows, enzyme_const,
                           counts, enzyme_const, ROWS, enzyme_dupv, sizeof(double), &result, seeds);
    for (int k = 0; k < SIZE; k++)
        g[k] = shadows[k % LANES][k] / (k % LANES + 1);
}

static double tangent_of_lanes(const double *x, const double *v)
{
    static double shadows[LANES][SIZE];
    for (int k = 0; k < SIZE; k++) {
        shadows[0][k] = v[k];
        shadows[1][k] = -2.0 * v[k];
        shadows[2][k] = k & 1 ? v[k] : 0.0;
    }
    struct lanes all = __enzyme_fwddiff_lanes((void *)run, enzyme_width, LANES, enzyme_dupv, sizeof shadows[0], x, shadows,
                                              enzyme_const, counts, enzyme_const, ROWS);
    for (int k = 0; k < SIZE; k++)
        shadows[2][k] = v[k] - shadows[2][k];
    double rest = __enzyme_fwddiff((void *)run, enzyme_dup, x, shadows[2], enzyme_const, counts, enzyme_const, ROWS);
    return 0.5 * (all.lane[0] - 0.5 * all.lane[1]) * 0.5 + 0.5 * (all.lane[2] + rest);
}

static const struct corpus_problem problem = {
    .name = "pointer_walks",
    .size = SIZE,
    .point = point,
    .setup = setup,
    .value = value,
    .tangent = tangent,
    .gradient = gradient,
    .variants = {{.name = "three lanes", .gradient = gradient_of_lanes, .tangent = tangent_of_lanes}},
};

CORPUS_MAIN(&problem)
