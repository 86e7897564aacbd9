// Waves in a plane: two fields that swap places after each step, one of them overwritten in place, in rows of a length that is
// known at run time alone, down to three cells; nothing says that arrays are apart, and some are not.
//
//   b_ij = 2 a_ij - b_ij + c_ij^2 (a_i-1j + a_i+1j + a_ij-1 + a_ij+1 - 4 a_ij), then a and b swap
//
// Besides, with arrays whose parts overlap: a field that moves over itself, rows closer to each other than they are long, a field
// that is its own medium. Transport to the neighbours and theirs, upwind and downwind. loss = sum a^2 / 2 + sums over lines.
// Source: Virieux, "SH-wave propagation in heterogeneous media", Geophysics 49, 1984 (leapfrog in time).
#include "corpus.h"

enum { LONG = CORPUS_SIZE(40, 7), CELLS = LONG * LONG, SHORT = CORPUS_SIZE(90, 40), COUNT = 3 * CELLS };

__attribute__((noinline)) static double waves(const double *c, double *a, double *b, int rows, int n, int steps)
{
    double heard = 0.0;
    for (int t = 0; t < steps; t++) {
        a[n + 1] += 0.1 * t;
        for (int i = 1; i < rows - 1; i++)
            for (int j = 1; j < n - 1; j++) {
                int k = i * n + j;
                b[k] = 2.0 * a[k] - b[k] + c[k] * c[k] * (a[k - 1] + a[k + 1] + a[k - n] + a[k + n] - 4.0 * a[k]);
            }
        heard += a[n + 1] * b[n + 1];
        double *swapped = a;
        a = b;
        b = swapped;
    }
    for (int k = 0; k < rows * n; k++)
        heard += 0.5 * a[k] * a[k];
    return heard;
}

// As far as three cells from each other, in both directions.
__attribute__((noinline)) static double transport(const double *speed, double *a, double *b, int n, int steps)
{
    double heard = 0.0;
    for (int t = 0; t < steps; t++) {
        for (int j = 2; j < n - 2; j++)
            b[j] = 0.6 * a[j] + 0.5 * speed[j] * (a[j + 1] - a[j - 1]) + 0.05 * a[j - 2] * a[j + 2] * a[j + 1];
        heard += 0.5 * b[n / 2] * b[n / 2];
        double *swapped = a;
        a = b;
        b = swapped;
    }
    for (int j = 0; j < n; j++)
        heard += 0.5 * a[j] * a[j];
    return heard;
}

// Rows that are `pitch` apart: less than a row is long, if the program likes.
__attribute__((noinline)) static double rows_apart(const double *weight, double *a, double *b, int rows, int pitch, int n)
{
    for (int t = 0; t < 3; t++) {
        for (int i = 1; i < rows; i++)
            for (int j = 1; j < n; j++) {
                int k = i * pitch + j;
                b[k] = 0.5 * b[k] + weight[k] * (a[k - pitch] + a[k + pitch] - a[k - 1] * a[k + 1]);
            }
        double *swapped = a;
        a = b;
        b = swapped;
    }
    double heard = 0.0;
    for (int k = 0; k < (rows + 1) * pitch; k++)
        heard += a[k] * b[k];
    return heard;
}

// Elements that one iteration writes and the next two write again, beside sums: what is not wanted of them must not be taken.
__attribute__((noinline)) static double rewritten(const double *c, double *a, double *b, int n, int steps)
{
    double heard = 0.0;
    for (int t = 0; t < steps; t++) {
        for (int j = 2; j < n - 2; j++) {
            b[j] = c[j] * (a[j - 1] + a[j + 1]) - a[j];
            b[j + 1] = 0.3 * a[j] * c[j];
            b[j + 2] = a[j - 1] * a[j];
        }
        double *swapped = a;
        a = b;
        b = swapped;
    }
    for (int j = 0; j < n; j++)
        heard += a[j] * a[j] + b[j];
    return heard;
}

// Each part begins with the fields of the start.
static double *fresh(const double *x)
{
    static double fields[2 * CELLS];
    for (int k = 0; k < 2 * CELLS; k++)
        fields[k] = x[CELLS + k];
    return fields;
}

static double run(const double *x)
{
    const double *c = x;
    const int lengths[] = {LONG, 14, 13, 5, 4, 3}, pitches[] = {LONG, LONG / 2, 3, 2, 1};
    double loss = 0.0, *a;
    for (int k = 0; k < (int)CORPUS_COUNT(lengths); k++)
        if (lengths[k] <= LONG) {
            a = fresh(x);
            loss += waves(c, a, a + CELLS, lengths[k], lengths[k], 4);
        }
    for (int k = 0; k < (int)CORPUS_COUNT(pitches); k++) {
        a = fresh(x);
        loss += rows_apart(c, a, a + CELLS, 3, pitches[k], LONG - 2);
    }
    a = fresh(x);
    loss += transport(c, a, a + CELLS, CELLS, 5) + transport(c, a, a + CELLS, 9, 2);
    a = fresh(x);
    loss += transport(c, a, a + 1, SHORT, 2);
    a = fresh(x);
    loss += transport(c, a + 7, a, SHORT, 3);
    a = fresh(x);
    loss += transport(a, a + CELLS, a, CELLS, 2);
    a = fresh(x);
    loss += waves(c, a, a + 2, 3, 12, 2);
    a = fresh(x);
    loss += rewritten(c, a, a + CELLS, CELLS, 3);
    a = fresh(x);
    return loss + waves(a, a, a + CELLS, LONG, LONG, 1);
}

static double point[COUNT];

static void setup(void)
{
    corpus_seed(271);
    corpus_fill(point, CELLS, 0.1, 0.4);
    corpus_fill(point + CELLS, 2 * CELLS, -0.5, 0.5);
}

static double value(const double *x)
{
    return run(x);
}

static double tangent(const double *x, const double *v)
{
    return __enzyme_fwddiff((void *)run, enzyme_dup, x, v);
}

static void gradient(const double *x, double *g)
{
    corpus_zero(g, COUNT);
    __enzyme_autodiff((void *)run, enzyme_dup, x, g);
}

static const struct corpus_problem problem = {
    .name = "leapfrog",
    .size = COUNT,
    .point = point,
    .setup = setup,
    .value = value,
    .tangent = tangent,
    .gradient = gradient,
};

CORPUS_MAIN(&problem)
