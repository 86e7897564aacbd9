// What a loop reads at its head and overwrites further on, behind other loops: by the same iteration alone, by the next, by none. A model of
// pools that feed each other, the first of which everything depends on, one row of a table after the other.
#include "corpus.h"

enum { N = 8, SIZE = 2 * N + 1 };

static double mixed(const double *p, int k)
{
    double sum = 0.5;
    for (int i = 0; i < 4; i++)
        sum += 0.5 * p[i] * p[(i + k) & 3];
    return tanh(sum);
}

// a[0] is read in each iteration, and written in the first, after it was read.
static double first(double *restrict a, double *restrict b, double s, int n)
{
    for (int i = 0; i <= (n & 7); i++) {
        b[n & 7] = sin(b[n & 7] + s * a[0]);
        a[i] = mixed(a + 1, 1);
    }
    return b[n & 7];
}

// a[i] is read, and written at the end of its iteration; a[i + 1] by the one before it was read.
static double own(double *restrict a, double *restrict b, double s, int n)
{
    double sum = 0.0;
    for (int i = 0; i < n; i++) {
        sum += s * a[i] * a[i];
        for (int k = 0; k < 3; k++)
            b[k] = cos(b[k] * a[i]);
        a[i] = tanh(b[i & 1] * sum);
    }
    for (int i = 0; i + 1 < n; i++) {
        sum += s * b[i] * b[i];
        for (int k = 0; k < 3; k++)
            a[k] = 0.5 * a[k] + sin(b[i] * b[i + 1]);
        b[i + 1] = cos(a[i & 3] * sum);
    }
    return sum;
}

// Written only where a condition holds, in one of two places behind the inner loop.
static double sometimes(double *restrict a, double *restrict b, double s, int n)
{
    double sum = 0.0;
    for (int i = 0; i < n; i++) {
        double x = a[i] * b[0];
        double y = 0.0;
        for (int k = 0; k < 4; k++)
            y += s * sin(x + b[k]);
        if (y > 0.3)
            a[i] = y;
        else
            b[0] = x - y;
        sum += y * x;
    }
    return sum;
}

static double point[SIZE], work[2 * N];

static void setup(void)
{
    corpus_seed(97);
    corpus_fill(point, SIZE, 0.1, 0.9);
}

// Each by itself: nothing is overwritten after it.
#define EACH(what)                                                                                                     \
    what(first, n - 1);                                                                                                \
    what(own, n);                                                                                                      \
    what(sometimes, n)

static double value(const double *x)
{
    double sum = 0.0;
#define VALUE(function, count)                                                                                         \
    corpus_copy(work, x, 2 * N);                                                                                       \
    sum += function(work, work + N, x[2 * N], count)
    for (int n = 1; n < N; n += 2) {
        EACH(VALUE);
    }
    return sum;
}

static double tangent(const double *x, const double *v)
{
    double sum = 0.0, shadow[2 * N];
#define TANGENT(function, count)                                                                                       \
    corpus_copy(work, x, 2 * N);                                                                                       \
    corpus_copy(shadow, v, 2 * N);                                                                                     \
    sum += __enzyme_fwddiff((void *)function, enzyme_dup, work, shadow, enzyme_dup, work + N, shadow + N, enzyme_dup,  \
                            x[2 * N], v[2 * N], enzyme_const, count)
    for (int n = 1; n < N; n += 2) {
        EACH(TANGENT);
    }
    return sum;
}

static void gradient(const double *x, double *g)
{
    double shadow[2 * N];
    corpus_zero(g, SIZE);
#define GRADIENT(function, count)                                                                                      \
    corpus_copy(work, x, 2 * N);                                                                                       \
    corpus_zero(shadow, 2 * N);                                                                                        \
    g[2 * N] += __enzyme_autodiff((void *)function, enzyme_dup, work, shadow, enzyme_dup, work + N, shadow + N,        \
                                  enzyme_out, x[2 * N], enzyme_const, count);                                          \
    for (int i = 0; i < 2 * N; i++)                                                                                    \
        g[i] += shadow[i]
    for (int n = 1; n < N; n += 2) {
        EACH(GRADIENT);
    }
}

static const struct corpus_problem problem = {
    .name = "overwritten_in_turn",
    .size = SIZE,
    .point = point,
    .setup = setup,
    .value = value,
    .tangent = tangent,
    .gradient = gradient,
};

CORPUS_MAIN(&problem)
