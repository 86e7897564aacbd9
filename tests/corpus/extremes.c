// Norms and margins that hang on one of many numbers: the largest absolute value of a residual, the margin of a
// classifier (the right score less the largest of the others), the least of several barriers, the largest value with a
// floor that may never be passed, the last of equal values, the range between least and largest found in one loop, the
// largest of a column. The derivative of each goes to one iteration of a loop, which is the first, the last or none.
#include "corpus.h"

enum { N = CORPUS_SIZE(37, 11), COLUMNS = 3 };

static double largest_residual(const double *x)
{
    double largest = 0.0;
    for (int i = 1; i < N; i++) {
        double residual = fabs(x[i] * x[i - 1] - 0.3);
        if (residual > largest)
            largest = residual;
    }
    return largest;
}

static double margin(const double *x, int right)
{
    double other = -INFINITY;
    for (int i = 0; i < N; i++)
        if (i != right && x[i] > other)
            other = x[i];
    return x[right] - other;
}

static double barrier(const double *x)
{
    double least = x[0] * x[1];
    for (int i = 1; i < N; i++) {
        double here = exp(0.1 * x[i]) - 0.2 * x[i];
        least = here < least ? here : least;
    }
    return log(1.0 + least * least);
}

// Its number is that of no iteration where the floor is larger.
static double above(const double *x, double floor)
{
    double largest = floor;
    for (int i = 0; i < N; i++)
        largest = x[i] > largest ? x[i] : largest;
    return largest * largest;
}

static double last_of_equals(const double *x)
{
    double y[N], largest = -1e300;
    for (int i = 0; i < N; i++)
        y[i] = i % 2 == 0 ? x[N / 2] : x[i] - 10.0;
    for (int i = 0; i < N; i++)
        largest = y[i] >= largest ? y[i] : largest;
    return largest * y[1];
}

static double range(const double *x)
{
    double least = x[0], largest = x[0];
    for (int i = 1; i < N; i++) {
        largest = x[i] > largest ? x[i] : largest;
        least = x[i] < least ? x[i] : least;
    }
    return largest * largest - 2.0 * least;
}

static double columns(const double *x)
{
    double total = 0.0;
    for (int j = 0; j < COLUMNS; j++) {
        double largest = x[j];
        for (int i = j + COLUMNS; i < N; i += COLUMNS)
            largest = x[i] > largest ? x[i] : largest;
        total += (j + 1) * largest;
    }
    return total;
}

static double extremes(const double *x)
{
    return largest_residual(x) + margin(x, 0) * margin(x, N - 1) + barrier(x) + above(x, -7.0) + above(x, 7.0) * x[0] +
           last_of_equals(x) + range(x) + columns(x);
}

static double point[N];

static void setup(void)
{
    corpus_seed(77);
    corpus_fill(point, N, -2.0, 2.0);
}

static double tangent(const double *x, const double *v)
{
    return __enzyme_fwddiff((void *)extremes, x, v);
}

static void gradient(const double *x, double *g)
{
    corpus_zero(g, N);
    __enzyme_autodiff((void *)extremes, x, g);
}

// Each by itself, so that its loop is a function of its own.
#define PART(part, ...) \
    __attribute__((noinline)) static double function_##part(const double *x) \
    { \
        return __VA_ARGS__; \
    } \
    static double value_##part(const double *x) \
    { \
        return function_##part(x); \
    } \
    static double tangent_##part(const double *x, const double *v) \
    { \
        return __enzyme_fwddiff((void *)function_##part, x, v); \
    } \
    static void gradient_##part(const double *x, double *g) \
    { \
        corpus_zero(g, N); \
        __enzyme_autodiff((void *)function_##part, x, g); \
    } \
    static const struct corpus_problem problem_##part = { \
        .name = #part, \
        .size = N, \
        .point = point, \
        .setup = setup, \
        .value = value_##part, \
        .tangent = tangent_##part, \
        .gradient = gradient_##part, \
    };

PART(largest_residual, largest_residual(x))
PART(margin, margin(x, 2))
PART(barrier, barrier(x))
PART(above, above(x, -7.0))
PART(never_above, above(x, 7.0) * x[0])
PART(last_of_equals, last_of_equals(x))
PART(range, range(x))
PART(columns, columns(x))

static const struct corpus_problem problem = {
    .name = "extremes",
    .size = N,
    .point = point,
    .setup = setup,
    .value = extremes,
    .tangent = tangent,
    .gradient = gradient,
};

CORPUS_MAIN(&problem, &problem_largest_residual, &problem_margin, &problem_barrier, &problem_above,
            &problem_never_above, &problem_last_of_equals, &problem_range, &problem_columns)
