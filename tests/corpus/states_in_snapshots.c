// States that a time stepper overwrites, and which its reverse sweep reads where it has kept them: neighbours in
// periodic and in bounded arrays. And what looks alike and must not be read there: reads beyond what is overwritten, by
// indices that only the run knows, through another pointer, in a part that moves. Memory must be left as the function
// itself leaves it.
#include "corpus.h"

enum { M = 7, CELLS = M * M, SIZE = CELLS + 1, STEPS = 3 };

static double squares(const double *u, int count)
{
    double sum = 0.0;
    for (int k = 0; k < count; k++)
        sum += u[k] * u[k];
    return sum;
}

// Rows above and below on a torus, in two fields of one array.
static double torus(double *restrict u, double *restrict rates, double s, int steps, int n)
{
    int half = n / 2;
    double *w = u + half * n;
    for (int t = 0; t < steps; t++) {
        for (int i = 0; i < half; i++) {
            int above = (i == 0 ? half - 1 : i - 1) * n, row = i * n, below = (i != half - 1 ? i + 1 : 0) * n;
            for (int j = 0; j < n; j++) {
                rates[row + j] = s * u[above + j] * w[row + j] - u[below + j] * u[row + j];
                rates[half * n + row + j] = w[below + j] * w[above + j] * u[row + j];
            }
        }
        for (int k = 0; k < 2 * half * n; k++)
            u[k] += 0.1 * rates[k];
    }
    return squares(u, 2 * half * n);
}

// Every number that is read is needed by the reverse sweep.
static double flow(const double *u, int up, int here, int down, int left, int right)
{
    return u[up] * u[left] * u[here] - u[down] * u[right] * u[here];
}

// Neighbours in a bounded field.
static double bounded(double *restrict u, double *restrict rates, double s, int steps, int n)
{
    for (int t = 0; t < steps; t++) {
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++) {
                int up = i > 0 ? i - 1 : 0, down = i + 1 < n ? i + 1 : n - 1, left = j > 0 ? j - 1 : 0,
                    right = j + 1 < n ? j + 1 : n - 1;
                rates[i * n + j] = s * flow(u, up * n + j, i * n + j, down * n + j, i * n + left, i * n + right);
            }
        for (int k = 0; k < n * n; k++)
            u[k] += 0.2 * rates[k];
    }
    return squares(u, n * n);
}

// The first and the last row are read, and stay.
static double beyond(double *restrict u, double *restrict rates, double s, int steps, int n)
{
    for (int t = 0; t < steps; t++) {
        for (int i = 1; i < n - 1; i++)
            for (int j = 0; j < n; j++) {
                int left = j == 0 ? n - 1 : j - 1, right = j == n - 1 ? 0 : j + 1, here = i * n + j;
                rates[here] = s * flow(u, here - n, here, here + n, i * n + left, i * n + right);
            }
        for (int k = n; k < n * n - n; k++)
            u[k] += 0.3 * rates[k];
    }
    return squares(u, n * n);
}

// The same rows, of which those that stay are never read.
static double inner(double *restrict u, double *restrict rates, double s, int steps, int n)
{
    for (int t = 0; t < steps; t++) {
        for (int i = 2; i < n - 2; i++)
            for (int j = 0; j < n; j++) {
                int left = j == 0 ? n - 1 : j - 1, right = j == n - 1 ? 0 : j + 1, here = i * n + j;
                rates[here] = s * flow(u, here - n, here, here + n, i * n + left, i * n + right);
            }
        for (int k = n; k < n * n - n; k++)
            u[k] += 0.3 * rates[k];
    }
    return squares(u, n * n);
}

// The indices are those of a torus but for one step of the loop.
static double late_turn(double *restrict u, double *restrict rates, double s, int steps, int n)
{
    for (int t = 0; t < steps; t++) {
        for (int i = 1; i < n; i++)
            for (int j = 0; j < n; j++) {
                int left = j == 1 ? n - 1 : j - 1, right = j == n - 1 ? 0 : j + 1, here = i * n + j;
                rates[here] = s * flow(u, here - n, here, here, i * n + left, i * n + right);
            }
        for (int k = n; k < n * n; k++)
            u[k] += 0.3 * rates[k];
    }
    return squares(u, n * n);
}

// The first cell is read, and stays.
static double boundary(double *restrict u, double *restrict rates, double s, int steps, int n)
{
    int cells = n * n;
    for (int t = 0; t < steps; t++) {
        for (int k = 1; k < cells; k++)
            rates[k] = u[k] * u[k - 1] * u[k] * s;
        for (int k = 1; k < cells; k++)
            u[k] -= 0.3 * rates[k];
    }
    return squares(u, cells);
}

// Each step overwrites a row; the next one reads it and one that another step overwrites.
static double row_by_row(double *restrict u, double *restrict rates, double s, int steps, int n)
{
    for (int t = 0; t < steps; t++) {
        double *row = u + t % n * n, *next = u + (t + 1) % n * n;
        for (int k = 0; k < n; k++)
            rates[k] = row[k] * next[k] * row[n - 1 - k] * s;
        for (int k = 0; k < n; k++)
            row[k] += rates[k];
    }
    return squares(u, n * n);
}

// Where is known at run time only.
static int places[CELLS];

static double scattered(double *restrict u, double *restrict rates, double s, int steps, int n)
{
    for (int t = 0; t < steps; t++) {
        for (int k = 0; k < n * n; k++)
            rates[k] = u[k] * u[places[k]] * u[places[k]] * s;
        for (int k = 0; k < n * n; k++)
            u[k] = 0.9 * u[k] + 0.1 * rates[k];
    }
    return squares(u, n * n);
}

// Through another pointer, and before the update as well as behind it.
static double twice(double *u, double *rates, double s, int steps, int n)
{
    double sum = 0.0, *other = n > 3 ? u : rates;
    for (int t = 0; t < steps; t++) {
        for (int k = 0; k + 1 < n * n; k++)
            rates[k] = u[k] * other[k + 1] * u[k] * s;
        for (int k = 0; k < n * n; k++)
            u[k] += 0.1 * rates[k];
        for (int k = 0; k + 1 < n * n; k++)
            sum += u[k] * u[k + 1] * u[k] * 0.01;
    }
    return sum + squares(u, n * n);
}

// Behind the update alone.
static double behind(double *restrict u, double *restrict rates, double s, int steps, int n)
{
    double sum = 0.0;
    for (int t = 0; t < steps; t++) {
        for (int k = 0; k < n * n; k++)
            u[k] = 0.8 * u[k] + 0.1 * rates[k];
        for (int k = 0; k < n * n; k++) {
            rates[k] = u[k] * u[n * n - 1 - k] * s;
            sum += rates[k] * u[k];
        }
    }
    return sum + squares(u, n * n);
}

// Not known to the compiler.
static volatile int side = M;
static double point[SIZE], work[CELLS], rates[CELLS], rates_shadow[CELLS];

static void setup(void)
{
    corpus_seed(141);
    corpus_fill(point, SIZE, 0.2, 0.9);
    for (int k = 0; k < CELLS; k++)
        places[k] = (5 * k + 3) % CELLS;
}

#define EACH(what)                                                                                                     \
    what(torus);                                                                                                       \
    what(bounded);                                                                                                     \
    what(beyond);                                                                                                      \
    what(inner);                                                                                                       \
    what(late_turn);                                                                                                   \
    what(boundary);                                                                                                    \
    what(row_by_row);                                                                                                  \
    what(scattered);                                                                                                   \
    what(twice);                                                                                                       \
    what(behind)

static double value(const double *x)
{
    double sum = 0.0;
    for (int steps = 0; steps <= STEPS; steps++) {
#define VALUE(function)                                                                                                \
    corpus_copy(work, x, CELLS);                                                                                       \
    corpus_zero(rates, CELLS);                                                                                         \
    sum += function(work, rates, x[CELLS], steps, side)
        EACH(VALUE);
    }
    return sum;
}

static double tangent(const double *x, const double *v)
{
    double sum = 0.0, shadow[CELLS];
    for (int steps = 0; steps <= STEPS; steps++) {
#define TANGENT(function)                                                                                              \
    corpus_copy(work, x, CELLS);                                                                                       \
    corpus_copy(shadow, v, CELLS);                                                                                     \
    corpus_zero(rates, CELLS);                                                                                         \
    corpus_zero(rates_shadow, CELLS);                                                                                  \
    sum += __enzyme_fwddiff((void *)function, enzyme_dup, work, shadow, enzyme_dup, rates, rates_shadow, enzyme_dup,   \
                            x[CELLS], v[CELLS], enzyme_const, steps, enzyme_const, side)
        EACH(TANGENT);
    }
    return sum;
}

// Not a number in the gradient if memory is not what the function itself leaves there.
static void compare_memory(double (*function)(double *, double *, double, int, int), const double *x,
                           const double *left, int steps, double *g)
{
    double expected[CELLS], other[CELLS];
    corpus_copy(expected, x, CELLS);
    corpus_zero(other, CELLS);
    function(expected, other, x[CELLS], steps, side);
    // Rounding of fused operations may differ.
    for (int k = 0; k < CELLS; k++)
        if (!(fabs(expected[k] - left[k]) <= 1e-12))
            g[k] = NAN;
}

static void gradient(const double *x, double *g)
{
    double shadow[CELLS];
    corpus_zero(g, SIZE);
    for (int steps = 0; steps <= STEPS; steps++) {
#define GRADIENT(function)                                                                                             \
    corpus_copy(work, x, CELLS);                                                                                       \
    corpus_zero(shadow, CELLS);                                                                                        \
    corpus_zero(rates, CELLS);                                                                                         \
    corpus_zero(rates_shadow, CELLS);                                                                                  \
    g[CELLS] += __enzyme_autodiff((void *)function, enzyme_dup, work, shadow, enzyme_dup, rates, rates_shadow,         \
                                  enzyme_out, x[CELLS], enzyme_const, steps, enzyme_const, side);                      \
    for (int k = 0; k < CELLS; k++)                                                                                    \
        g[k] += shadow[k];                                                                                             \
    compare_memory(function, x, work, steps, g)
        EACH(GRADIENT);
    }
}

static const struct corpus_problem problem = {
    .name = "states_in_snapshots",
    .size = SIZE,
    .point = point,
    .setup = setup,
    .value = value,
    .tangent = tangent,
    .gradient = gradient,
};

CORPUS_MAIN(&problem)
