// Calls of helper functions that are kept as calls: pure ones, ones that read or write memory, a callee which is inactive in
// one call and active in another, one that returns a pointer, one which is given the same array twice, one that writes
// results through pointers, one which the primal needs after its memory was overwritten by a later call.
#include "corpus.h"

#define KEPT __attribute__((noinline)) static

KEPT double pure(double x, double y)
{
    return x * exp(-y * y) + y;
}

KEPT double weighted(const double *values, const double *weights, int n)
{
    double sum = 0.0;
    for (int i = 0; i < n; i++)
        sum += weights[i] * values[i] * values[i];
    return sum;
}

KEPT void scale(double *values, double factor, int n)
{
    for (int i = 0; i < n; i++)
        values[i] *= factor;
}

// to and from may be the same array.
KEPT void accumulate(double *to, const double *from, int n)
{
    for (int i = 0; i < n; i++)
        to[i] += from[i] * from[i];
}

KEPT double *largest(double *values, int n)
{
    double *best = values;
    for (int i = 1; i < n; i++)
        if (values[i] > *best)
            best = &values[i];
    return best;
}

KEPT void moments(const double *values, int n, double *mean, double *variance)
{
    *mean = 0.0;
    *variance = 0.0;
    for (int i = 0; i < n; i++)
        *mean += values[i] / n;
    for (int i = 0; i < n; i++)
        *variance += (values[i] - *mean) * (values[i] - *mean) / n;
}

KEPT int count_positive(const double *values, int n)
{
    int count = 0;
    for (int i = 0; i < n; i++)
        count += values[i] > 0.0;
    return count;
}

KEPT void fill_weights(double *weights, int n, double start)
{
    for (int i = 0; i < n; i++)
        weights[i] = pure(start + i, 0.1 * i); // inactive here
}

static double calls_loss(double *x, double s, int n)
{
    double weights[32], mean, variance;
    fill_weights(weights, n, 0.5);
    double loss = weighted(x, weights, n);           // the weights are constant
    loss += pure(s, x[0]);                           // active here
    scale(x, s, n);                                  // overwrites what the first call read
    accumulate(x, x, n);                             // the same array twice
    accumulate(weights, x, n);                       // from here on the weights are active
    loss += weighted(x, weights, n);
    *largest(x, n) *= pure(2.0, 0.3) * s;            // through a returned pointer
    moments(x, n, &mean, &variance);
    loss += mean * variance + count_positive(x, n);
    scale(weights, variance, n);
    loss += weighted(weights, weights, n);
    return loss;
}

enum { N = CORPUS_SIZE(20, 5), SIZE = N + 1 };

static double point[SIZE], work[N], shadow[N];

static void setup(void)
{
    corpus_seed(26);
    corpus_fill(point, N, -0.6, 0.6);
    point[3] = 0.7; // the largest, by a clear margin, also after x -> x s + (x s)^2
    point[N] = 0.8;
}

static double value(const double *x)
{
    corpus_copy(work, x, N);
    return calls_loss(work, x[N], N);
}

static double tangent(const double *x, const double *v)
{
    corpus_copy(work, x, N);
    corpus_copy(shadow, v, N);
    return __enzyme_fwddiff((void *)calls_loss, enzyme_dup, work, shadow, enzyme_dup, x[N], v[N], enzyme_const, N);
}

static void gradient(const double *x, double *g)
{
    corpus_copy(work, x, N);
    corpus_zero(g, SIZE);
    g[N] = __enzyme_autodiff((void *)calls_loss, enzyme_dup, work, g, enzyme_out, x[N], enzyme_const, N);
}

static void gradient_array(const double *x, double *g)
{
    corpus_copy(work, x, N);
    corpus_zero(g, N);
    __enzyme_autodiff((void *)calls_loss, enzyme_dup, work, g, enzyme_const, x[N], enzyme_const, N);
}

static void gradient_plain(const double *x, double *g)
{
    corpus_copy(work, x, N);
    corpus_zero(g, SIZE);
    g[N] = __enzyme_autodiff((void *)calls_loss, work, g, x[N], N);
}

// The marker is given one array for two arguments, with one shadow: both arguments' adjoints meet there.
static int extra(void)
{
    double shadow_of_both[3] = {0.0, 0.0, 0.0}, values[3] = {0.5, -0.4, 0.3}, worst = 0.0;
    __enzyme_autodiff((void *)weighted, values, shadow_of_both, values, shadow_of_both, 3);
    for (int i = 0; i < 3; i++) // d/dv v^3
        worst = fmax(worst, fabs(shadow_of_both[i] - 3.0 * values[i] * values[i]));
    return corpus_check("calls", "one array for two arguments", worst, 1e-15);
}

static const struct corpus_problem problem = {
    .name = "calls",
    .size = SIZE,
    .point = point,
    .setup = setup,
    .value = value,
    .tangent = tangent,
    .gradient = gradient,
    .variants =
        {
            {.name = "gradient of the array alone", .gradient = gradient_array, .end = N},
            {.name = "gradient without annotations", .gradient = gradient_plain},
        },
    .extra = extra,
    .coordinates = CORPUS_ALL,
    .step = 0x1p-10, // small enough that no value changes its sign and the largest stays the largest
};

CORPUS_MAIN(&problem)
