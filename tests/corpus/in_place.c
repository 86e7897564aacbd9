// Sweeps over arrays in place, each of which reads elements that it, or a later turn of it, overwrites or not: what has to
// be kept of them depends on the order of accesses alone. Loops run up and down, bounds depend on outer counters and touch
// or miss the elements that are written; rows overlap; a first turn is an exception. Every update is a product, so an
// element that is taken after it was overwritten gives another gradient. Loss = sum of squares of all that is left.
#include "corpus.h"

// Column k is final before column k + 1 is written.
static void columns_right(double *restrict a, int n)
{
    for (int k = 0; k + 1 < n; k++)
        for (int i = 0; i < n; i++)
            a[i * n + k + 1] *= 1.0 + 0.3 * a[i * n + k];
}

// The other way: what is read is overwritten by the turn after.
static void columns_left(double *restrict a, int n)
{
    for (int k = n - 1; k > 0; k--)
        for (int i = 0; i < n; i++)
            a[i * n + k - 1] *= 1.0 + 0.3 * a[i * n + k] * a[i * n + k - 1];
}

// Elimination without the quotients: row k is final, column k is read in the same turn.
static void eliminate(double *restrict a, int n)
{
    for (int k = 0; k < n; k++)
        for (int i = k + 1; i < n; i++)
            for (int j = k + 1; j < n; j++)
                a[i * n + j] -= 0.2 * a[i * n + k] * a[k * n + j];
}

// As before, but column k is itself overwritten afterwards.
static void eliminate_all(double *restrict a, int n)
{
    for (int k = 0; k < n; k++)
        for (int i = k + 1; i < n; i++)
            for (int j = n - 1; j >= k; j--)
                a[i * n + j] -= 0.2 * a[i * n + k] * a[k * n + j];
}

// Columns left of the diagonal, and one more in `inclusive`, which is written in the same turn.
static void triangle(double *restrict a, int n, int inclusive)
{
    for (int j = 0; j < n; j++)
        for (int i = j; i < n; i++) {
            double sum = a[i * n + j];
            for (int k = 0; k < j + inclusive; k++)
                sum -= 0.1 * a[i * n + k] * a[j * n + k];
            a[i * n + j] = sum * sum;
        }
}

// Rows of n elements that lie `step` apart: they overlap where step < n.
static void overlapping(double *restrict a, int n, int step)
{
    for (int i = 1; i < n; i++)
        for (int j = 0; j < n; j++)
            a[i * step + j] *= 1.0 + 0.1 * a[(i - 1) * step + j];
}

// Substitution, and the same done twice: what the first sweep reads the second overwrites.
static void substitute(double *restrict b, const double *restrict a, int n, int sweeps)
{
    for (int t = 0; t < sweeps; t++)
        for (int i = 1; i < n; i++)
            for (int j = 0; j < i; j++)
                b[i] -= 0.3 * a[i * n + j] * b[j] * b[i];
}

// Neighbours to the right are old, those to the left are new.
static void neighbours(double *restrict a, int n, int sweeps)
{
    for (int t = 0; t < sweeps; t++)
        for (int i = 1; i + 1 < n; i++)
            a[i] += 0.1 * a[i] * (a[i - 1] - 2.0 * a[i] + a[i + 1]);
}

// The first turn works on another row.
static void first_turn(double *restrict a, int n)
{
    for (int k = 0; k < n; k++) {
        double *row = k == 0 ? a + (n - 1) * n : a + (k - 1) * n;
        for (int j = 0; j < n; j++)
            row[j] *= 1.0 + 0.2 * a[k * n + j] * a[j * n + k];
    }
}

// Even elements are read, odd ones written, and some more.
static void strided(double *restrict a, int n, int step)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j + 1 < n; j += step)
            a[i * n + j + 1] *= 1.0 + 0.1 * a[i * n + j] * a[j];
}

enum { SIDE = CORPUS_SIZE(9, 4), BLOCK = SIDE * SIDE, BLOCKS = 13, SIZE = BLOCKS * BLOCK };

// A sweep on memory of its own, so that no other array is in question.
#define SWEEP(part, sweep)                                                                                             \
    do {                                                                                                               \
        double *m = (double *)malloc(sizeof(double) * (size_t)block);                                                  \
        for (int i = 0; i < block; i++)                                                                                \
            m[i] = a[(part) * block + i];                                                                              \
        sweep;                                                                                                         \
        for (int i = 0; i < block; i++)                                                                                \
            loss += m[i] * m[i];                                                                                       \
        free(m);                                                                                                       \
    } while (0)

static double sweeps_loss(const double *a, int n)
{
    int block = n * n;
    double loss = 0.0;
    SWEEP(0, columns_right(m, n));
    SWEEP(1, columns_left(m, n));
    SWEEP(2, eliminate(m, n));
    SWEEP(3, eliminate_all(m, n));
    SWEEP(4, triangle(m, n, 0));
    SWEEP(5, triangle(m, n, 1));
    SWEEP(6, overlapping(m, n, n));
    SWEEP(7, overlapping(m, n, n - 2));
    SWEEP(8, substitute(m, a, n, 1));
    SWEEP(9, substitute(m, a, n, 3));
    SWEEP(10, neighbours(m, block, 3));
    SWEEP(11, first_turn(m, n));
    SWEEP(12, strided(m, n, 2));
    return loss;
}

static double point[SIZE];

static void setup(void)
{
    corpus_seed(77);
    corpus_fill(point, SIZE, 0.4, 1.2);
}

static double value(const double *x)
{
    return sweeps_loss(x, SIDE);
}

static double tangent(const double *x, const double *v)
{
    return __enzyme_fwddiff((void *)sweeps_loss, enzyme_dup, x, v, enzyme_const, SIDE);
}

static void gradient(const double *x, double *g)
{
    corpus_zero(g, SIZE);
    __enzyme_autodiff((void *)sweeps_loss, enzyme_dup, x, g, enzyme_const, SIDE);
}

static const struct corpus_problem problem = {
    .name = "in_place",
    .size = SIZE,
    .point = point,
    .setup = setup,
    .value = value,
    .tangent = tangent,
    .gradient = gradient,
};

CORPUS_MAIN(&problem)
