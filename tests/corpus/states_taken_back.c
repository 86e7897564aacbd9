// States that are overwritten step by step, of which each number is read several times: what a reverse sweep takes
// back. Memory must be left as the function itself leaves it, and what lies between the elements that it writes must
// not be touched.
#include "corpus.h"

enum { M = 6, CELLS = M * M, SIZE = CELLS + 1, STEPS = 4 };

// Every number that is read is needed by the reverse sweep.
static double coupling(const double *u, int n, int i, int j)
{
    int up = i == 0 ? n - 1 : i - 1, down = i == n - 1 ? 0 : i + 1, left = j == 0 ? n - 1 : j - 1,
        right = j == n - 1 ? 0 : j + 1;
    return u[up * n + j] * u[i * n + left] - u[down * n + j] * u[i * n + right] * u[i * n + j];
}

static double squares(const double *u, int count)
{
    double sum = 0.0;
    for (int k = 0; k < count; k++)
        sum += u[k] * u[k];
    return sum;
}

// All elements, in one loop.
static double whole(double *restrict u, double *restrict rates, double s, int steps, int n)
{
    for (int t = 0; t < steps; t++) {
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++)
                rates[i * n + j] = s * coupling(u, n, i, j) * u[i * n + j] - u[i * n + j] * u[i * n + j];
        for (int k = 0; k < n * n; k++)
            u[k] += 0.1 * rates[k];
    }
    return squares(u, n * n);
}

// Rows without their ends, which stay; the last ones first.
static double interior(double *restrict u, double *restrict rates, double s, int steps, int n)
{
    for (int t = 0; t < steps; t++) {
        for (int i = 1; i < n - 1; i++)
            for (int j = 1; j < n - 1; j++)
                rates[i * n + j] = sin(s * coupling(u, n, i, j)) * coupling(u, n, j, i);
        for (int i = n - 2; i > 0; i--)
            for (int j = 1; j < n - 1; j++)
                u[i * n + j] = 0.9 * u[i * n + j] + rates[i * n + j] * u[i * n];
    }
    return squares(u, n * n);
}

// Two loops over the same array, the second of which reads what the first left; and one behind the steps.
static double in_turns(double *restrict u, double *restrict rates, double s, int steps, int n)
{
    for (int t = 0; t < steps; t++) {
        for (int k = 1; k < n * n - 1; k++)
            rates[k] = s * u[k - 1] * u[k] * u[k + 1];
        for (int k = 1; k < n * n - 1; k++)
            u[k] += rates[k];
        for (int k = 2; k < n * n; k++)
            rates[k] = u[k - 2] * u[k - 1] * u[k] * 0.3;
        for (int k = 2; k < n * n; k++)
            u[k] -= rates[k];
    }
    for (int round = 0; round < 2; round++) {
        double sum = 0.0;
        for (int k = 0; k < n * n; k++)
            sum += u[k] * u[(k + 3) % (n * n)];
        for (int k = 0; k < n * n; k++)
            u[k] = sin(u[k] + 0.01 * sum);
    }
    return squares(u, n * n);
}

// Only if a condition holds, which is known beforehand; or in every other step.
static double sometimes(double *restrict u, double *restrict rates, double s, int steps, int n)
{
    for (int t = 0; t < steps; t++) {
        for (int k = 0; k < n * n; k++)
            rates[k] = s * u[k] * u[(k + 1) % (n * n)] * u[(k + 5) % (n * n)];
        if (s > 0.0)
            for (int k = 0; k < n * n; k++)
                u[k] += 0.2 * rates[k];
        if (t & 1)
            for (int k = 0; k < n; k++)
                u[k] = cos(u[k] * rates[k]);
    }
    return squares(u, n * n);
}

// Memory of its own.
static double inside(double *restrict u, double *restrict rates, double s, int steps, int n)
{
    double state[CELLS], *other = (double *)malloc(sizeof(double) * CELLS);
    for (int k = 0; k < n * n; k++)
        other[k] = state[k] = u[k];
    for (int t = 0; t < steps; t++) {
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++)
                rates[i * n + j] = s * coupling(state, n, i, j) * other[i * n + j] + coupling(other, n, i, j) * 0.1;
        for (int k = 0; k < n * n; k++) {
            state[k] += 0.1 * rates[k] * other[k];
            other[k] -= 0.1 * rates[k];
        }
    }
    double sum = squares(state, n * n) + squares(other, n * n);
    free(other);
    return sum;
}

// What was read before the update is used behind it, too.
static double late(double *restrict u, double *restrict rates, double s, int steps, int n)
{
    double sum = 0.0;
    for (int t = 0; t < steps; t++) {
        double first = u[0] * u[1], last = u[n * n - 1] * s;
        for (int k = 0; k + 2 < n * n; k++)
            rates[k] = u[k] * u[k + 1] * u[k + 2];
        for (int k = 0; k + 2 < n * n; k++)
            u[k] = 0.5 * u[k] + first * rates[k];
        sum += first * u[2] + last * u[3] * last;
    }
    return sum;
}

// A buffer that is filled twice in each step, and read in between through a pointer that leads there or elsewhere. What
// the first fill overwrites is not wanted where the second one, of `some` elements, is one of all.
static inline double refill(double *restrict u, double *restrict rates, double s, int steps, int count, int some)
{
    double sum = 0.0, *buffer = (double *)malloc(sizeof(double) * (size_t)count);
    for (int k = 0; k < count; k++)
        buffer[k] = u[k] * u[k];
    for (int t = 0; t < steps; t++) {
        for (int k = 0; k < count; k++)
            buffer[k] = s * u[k] + 0.1 * buffer[k];
        const double *input = buffer;
        for (int layer = 0; layer < 2; layer++) {
            for (int k = 0; k < count; k++)
                rates[k] = sin(input[k] * u[k]) * input[k];
            for (int k = 0; k < count; k++)
                u[k] = 0.5 * u[k] + rates[k] * u[k];
            input = u;
        }
        for (int k = 0; k < some; k++)
            buffer[k] = 0.2 * u[k] * rates[k];
        for (int k = 0; k < count; k++)
            sum += exp(buffer[k]) * buffer[k];
    }
    free(buffer);
    return sum;
}

static double refilled(double *restrict u, double *restrict rates, double s, int steps, int n)
{
    return refill(u, rates, s, steps, n * n, n * n);
}

static double half_refilled(double *restrict u, double *restrict rates, double s, int steps, int n)
{
    return refill(u, rates, s, steps, n * n, n * n / 2);
}

// Every other element; the shadow lies between them.
static double between(double *u, double *restrict rates, double s, int steps, int n)
{
    enum { half = CELLS / 2 };
    for (int t = 0; t < steps; t++) {
        for (int k = 1; k < half - 1; k++)
            rates[k] = s * u[2 * k - 2] * u[2 * k] * u[2 * k + 2];
        for (int k = 1; k < half - 1; k++)
            u[2 * k] += 0.3 * rates[k];
    }
    double sum = 0.0;
    for (int k = 0; k < half; k++)
        sum += u[2 * k] * u[2 * k];
    return sum;
}

// Not known to the compiler.
static volatile int side = M;
static double point[SIZE], work[CELLS], rates[CELLS], rates_shadow[CELLS];

static void setup(void)
{
    corpus_seed(131);
    corpus_fill(point, SIZE, 0.2, 0.9);
}

#define EACH(what)                                                                                                     \
    what(whole);                                                                                                       \
    what(interior);                                                                                                    \
    what(in_turns);                                                                                                    \
    what(sometimes);                                                                                                   \
    what(inside);                                                                                                      \
    what(late);                                                                                                        \
    what(refilled);                                                                                                    \
    what(half_refilled)

static double value(const double *x)
{
    double sum = 0.0;
    for (int steps = 0; steps <= STEPS; steps += 2) {
#define VALUE(function)                                                                                                \
    corpus_copy(work, x, CELLS);                                                                                       \
    corpus_zero(rates, CELLS);                                                                                         \
    sum += function(work, rates, x[CELLS], steps, side)
        EACH(VALUE);
        corpus_zero(work, CELLS);
        for (int k = 0; k < CELLS; k += 2)
            work[k] = x[k / 2];
        corpus_zero(rates, CELLS);
        sum += between(work, rates, x[CELLS], steps, side);
    }
    return sum;
}

static double tangent(const double *x, const double *v)
{
    double sum = 0.0, shadow[CELLS];
    for (int steps = 0; steps <= STEPS; steps += 2) {
#define TANGENT(function)                                                                                              \
    corpus_copy(work, x, CELLS);                                                                                       \
    corpus_copy(shadow, v, CELLS);                                                                                     \
    corpus_zero(rates, CELLS);                                                                                         \
    corpus_zero(rates_shadow, CELLS);                                                                                  \
    sum += __enzyme_fwddiff((void *)function, enzyme_dup, work, shadow, enzyme_dup, rates, rates_shadow, enzyme_dup,   \
                            x[CELLS], v[CELLS], enzyme_const, steps, enzyme_const, side)
        EACH(TANGENT);
        for (int k = 0; k < CELLS; k += 2) {
            work[k] = x[k / 2];
            work[k + 1] = v[k / 2];
        }
        corpus_zero(rates, CELLS);
        corpus_zero(rates_shadow, CELLS);
        sum += __enzyme_fwddiff((void *)between, enzyme_dup, work, work + 1, enzyme_dup, rates, rates_shadow,
                                enzyme_dup, x[CELLS], v[CELLS], enzyme_const, steps, enzyme_const, side);
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
    for (int steps = 0; steps <= STEPS; steps += 2) {
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
        corpus_zero(work, CELLS);
        for (int k = 0; k < CELLS; k += 2)
            work[k] = x[k / 2];
        corpus_zero(rates, CELLS);
        corpus_zero(rates_shadow, CELLS);
        g[CELLS] += __enzyme_autodiff((void *)between, enzyme_dup, work, work + 1, enzyme_dup, rates, rates_shadow,
                                      enzyme_out, x[CELLS], enzyme_const, steps, enzyme_const, side);
        for (int k = 0; k < CELLS; k += 2)
            g[k / 2] += work[k + 1];
    }
}

// The gradient of `whole` times a direction, and its derivatives.
static double direction[CELLS];

static double along(double *restrict u, double *restrict u_shadow, double *restrict r, double *restrict r_shadow,
                    double s)
{
    __enzyme_autodiff((void *)whole, enzyme_dup, u, u_shadow, enzyme_dup, r, r_shadow, enzyme_const, s, enzyme_const,
                      STEPS, enzyme_const, side);
    double sum = 0.0;
    for (int k = 0; k < CELLS; k++)
        sum += direction[k] * u_shadow[k];
    return sum;
}

static void second_setup(void)
{
    setup();
    corpus_fill(direction, CELLS, -1.0, 1.0);
}

static double second_value(const double *x)
{
    double shadow[CELLS];
    corpus_copy(work, x, CELLS);
    corpus_zero(shadow, CELLS);
    corpus_zero(rates, CELLS);
    corpus_zero(rates_shadow, CELLS);
    return along(work, shadow, rates, rates_shadow, 0.7);
}

static double second_tangent(const double *x, const double *v)
{
    double shadow[CELLS], work_tangent[CELLS], shadow_tangent[CELLS], rates_tangent[CELLS], other_tangent[CELLS];
    corpus_copy(work, x, CELLS);
    corpus_copy(work_tangent, v, CELLS);
    corpus_zero(shadow, CELLS);
    corpus_zero(shadow_tangent, CELLS);
    corpus_zero(rates, CELLS);
    corpus_zero(rates_tangent, CELLS);
    corpus_zero(rates_shadow, CELLS);
    corpus_zero(other_tangent, CELLS);
    return __enzyme_fwddiff((void *)along, enzyme_dup, work, work_tangent, enzyme_dup, shadow, shadow_tangent,
                            enzyme_dup, rates, rates_tangent, enzyme_dup, rates_shadow, other_tangent, enzyme_const,
                            0.7);
}

static void second_gradient(const double *x, double *g)
{
    for (int i = 0; i < CELLS; i++) {
        double unit[CELLS];
        corpus_zero(unit, CELLS);
        unit[i] = 1.0;
        g[i] = second_tangent(x, unit);
    }
}

static const struct corpus_problem problem = {
    .name = "states_taken_back",
    .size = SIZE,
    .point = point,
    .setup = setup,
    .value = value,
    .tangent = tangent,
    .gradient = gradient,
};

static const struct corpus_problem second = {
    .name = "states_taken_back_twice",
    .size = CELLS,
    .point = point,
    .setup = second_setup,
    .value = second_value,
    .tangent = second_tangent,
    .gradient = second_gradient,
};

CORPUS_MAIN(&problem, &second)
