// Functions with `restrict` parameters that are inlined, called with what C allows: two pointers to the same numbers if these are
// only read, windows of one array, rows of one matrix that change their parts from call to call, two arrays that are swapped.
// What is promised holds for one call; adjoints are added to where values were read, so that of their memory less is promised.
// Source: ISO/IEC 9899:2018, 6.7.3.1 (formal definition of restrict), examples 3 and 4.
#include "corpus.h"

enum { N = 24, SIZE = 4 * N, STEPS = 5 };

static double point[SIZE];
static int steps, width; // not known to the compiler

static inline double dot(const double *restrict a, const double *restrict b, int n)
{
    double sum = 0.0;
    for (int i = 0; i < n; i++)
        sum += a[i] * b[i] + sin(a[i]) * b[i] * b[i];
    return sum;
}

static inline void blend(double *restrict to, const double *restrict a, const double *restrict b, int n)
{
    for (int i = 0; i < n; i++)
        to[i] = a[i] * b[i] + 0.3 * b[i];
}

static inline void scale(double *restrict to, const double *restrict a, const double *restrict by, int n)
{
    for (int i = 0; i < n; i++)
        to[i] = a[i] * a[i] * *by + 0.1 * by[1];
}

static inline void add(double *restrict to, const double *restrict from, double by, int n)
{
    for (int i = 0; i < n; i++)
        to[i] += by * from[i] * to[i];
}

static inline void smooth(const double *restrict now, double *restrict next, const double *restrict rate, int n)
{
    for (int i = 1; i < n - 1; i++)
        next[i] = now[i] + rate[i] * now[i] * (now[i - 1] + now[i + 1] - 2.0 * now[i]);
}

static inline void rotate(double *restrict a, double *restrict b, double c, double s, int n)
{
    for (int i = 0; i < n; i++) {
        double t = c * a[i] - s * b[i];
        b[i] = s * a[i] + c * b[i] * a[i];
        a[i] = t;
    }
}

// The same numbers twice, and windows that overlap.
static double windows(double *x, int n, int times)
{
    double out[N], sum = dot(x, x, n);
    for (int t = 0; t < times; t++) {
        blend(out, x + t, x + t + 1, n - STEPS);
        sum += dot(out, x + 2 * t, n - STEPS) + dot(x + 1, x, n - 1);
    }
    // One of the numbers that are read is the factor of all, too.
    scale(out, x, x + 5, n);
    sum += dot(out, x + n, n);
    scale(out, x + 3, x + times, n - STEPS);
    return sum + dot(out, x, n - STEPS);
}

// Rows of one matrix: what is read in one call is written in another.
static double rows(double *x, int n, int times)
{
    for (int k = 0; k < 3; k++)
        for (int i = 0; i < 4; i++)
            if (i != k)
                add(x + i * n, x + k * n, 0.4 / times, n);
    return dot(x, x + n, n) + dot(x + 2 * n, x + 3 * n, n);
}

// Two arrays that are swapped, by a variable and by the parity of the step.
static double swapped(double *x, int n, int times)
{
    double *now = x, *next = x + n;
    for (int t = 0; t < times; t++) {
        smooth(now, next, x + 2 * n, n);
        double *other = now;
        now = next;
        next = other;
    }
    for (int t = 0; t < 4; t++)
        smooth(x + (t & 1) * n, x + (1 - (t & 1)) * n, x + 3 * n, n);
    return dot(now, next, n);
}

// In place, each row with each other.
static double rotations(double *x, int n, int times)
{
    for (int t = 0; t < times; t++)
        for (int i = 0; i < 4; i++)
            for (int j = 0; j < i; j++)
                rotate(x + i * n, x + j * n, 0.8, 0.6 - 0.1 * t, n);
    return dot(x, x + 3 * n, n) + dot(x + n, x + n, n);
}

// Unrolled by the compiler, each copy on the result of the one before.
static double unrolled(double *x, int n, int times)
{
    double *at[3] = {x, x + n, x + 2 * n};
    (void)times;
#pragma clang loop unroll(full)
    for (int t = 0; t < 6; t++)
        smooth(at[t % 3], at[(t + 1) % 3], at[(t + 2) % 3], n);
    return dot(at[0], at[2], n) + at[1][2];
}

typedef double function(double *, int, int);

static function *const functions[] = {windows, rows, swapped, rotations, unrolled};

static void setup(void)
{
    corpus_seed(417);
    corpus_fill(point, SIZE, 0.2, 0.9);
    steps = STEPS - (corpus_uniform(0.0, 1.0) > 2.0);
    width = N - (corpus_uniform(0.0, 1.0) > 2.0);
}

static double value(const double *x)
{
    double sum = 0.0;
    for (int f = 0; f < 5; f++) {
        double copy[SIZE];
        corpus_copy(copy, x, SIZE);
        sum += functions[f](copy, width, steps);
    }
    return sum;
}

#define FORWARD(f)                                                                                                     \
    (corpus_copy(copy, x, SIZE), corpus_copy(direction, v, SIZE),                                                      \
     __enzyme_fwddiff((void *)f, enzyme_dup, copy, direction, enzyme_const, width, enzyme_const, steps))

static double tangent(const double *x, const double *v)
{
    double copy[SIZE], direction[SIZE], sum = FORWARD(windows);
    sum += FORWARD(rows);
    sum += FORWARD(swapped);
    sum += FORWARD(rotations);
    sum += FORWARD(unrolled);
    return sum;
}

#define REVERSE(f)                                                                                                     \
    do {                                                                                                               \
        corpus_copy(copy, x, SIZE);                                                                                    \
        corpus_zero(shadow, SIZE);                                                                                     \
        __enzyme_autodiff((void *)f, enzyme_dup, copy, shadow, enzyme_const, width, enzyme_const, steps);              \
        for (int i = 0; i < SIZE; i++)                                                                                 \
            g[i] += shadow[i];                                                                                         \
    } while (0)

static void gradient(const double *x, double *g)
{
    double copy[SIZE], shadow[SIZE];
    corpus_zero(g, SIZE);
    REVERSE(windows);
    REVERSE(rows);
    REVERSE(swapped);
    REVERSE(rotations);
    REVERSE(unrolled);
}

static const struct corpus_problem problem = {
    .name = "restrict_inlined",
    .size = SIZE,
    .point = point,
    .setup = setup,
    .value = value,
    .tangent = tangent,
    .gradient = gradient,
};

CORPUS_MAIN(&problem)
