// Functions with variable arguments: a polynomial whose terms a string names, a list that is walked twice (va_copy) and
// handed on, structures and long doubles among the arguments, more of them than registers, a message on the way, and a
// mean that calls itself with fewer.
#include "corpus.h"
#include <stdarg.h>

enum { N = 9 };

struct pair {
    double first, second;
};

struct band {
    double low, middle, high;
    int weight;
};

// d: a double, i: an int, p: a pair, b: a band, l: a long double, a: an array of that many doubles.
__attribute__((noinline)) static double total(const char *kinds, ...)
{
    va_list list;
    double sum = 0.0, product = 1.0;
    va_start(list, kinds);
    for (const char *k = kinds; *k; k++) {
        if (*k == 'd') {
            product *= va_arg(list, double);
            sum += product;
        } else if (*k == 'i') {
            sum += va_arg(list, int) * product;
        } else if (*k == 'p') {
            struct pair p = va_arg(list, struct pair);
            sum += p.first * p.second;
        } else if (*k == 'b') {
            struct band b = va_arg(list, struct band);
            sum += b.weight * (b.low + b.middle * b.high);
        } else if (*k == 'l') {
            product += (double)va_arg(list, long double);
        } else {
            const double *a = va_arg(list, const double *);
            for (int n = va_arg(list, int); n > 0; n--)
                sum += a[n - 1] * n;
        }
    }
    va_end(list);
    return sum;
}

__attribute__((noinline)) static double add_up(int count, va_list list)
{
    double sum = 0.0;
    for (int i = 0; i < count; i++)
        sum += va_arg(list, double);
    return sum;
}

// Squared distance from the mean: two walks.
__attribute__((noinline)) static double scatter(int count, ...)
{
    va_list list, again;
    va_start(list, count);
    va_copy(again, list);
    double mean = add_up(count, list) / count, sum = 0.0;
    va_end(list);
    for (int i = 0; i < count; i++) {
        double d = va_arg(again, double) - mean;
        sum += d * d;
    }
    va_end(again);
    return sum;
}

__attribute__((noinline)) static double nested(int depth, ...)
{
    va_list list;
    va_start(list, depth);
    double a = va_arg(list, double), b = va_arg(list, double);
    va_end(list);
    return depth == 0 ? a * b : nested(depth - 1, a + 0.1 * b, sin(b));
}

__attribute__((noinline)) static void note(char *text, size_t size, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    vsnprintf(text, size, format, list);
    va_end(list);
}

static double everything(double *x)
{
    char text[64];
    struct pair p = {x[1] * x[2], x[3]};
    struct band b = {x[4], x[5], x[6] * x[0], 3};
#ifdef CORPUS_SMALL
    // `enzyme run` has no structures in memory among such arguments.
    double sum = total("didpld", x[0], 2, x[1], p, (long double)(x[7] * x[7]), x[8]) + b.weight * b.high;
#else
    double sum = total("didpbld", x[0], 2, x[1], p, b, (long double)(x[7] * x[7]), x[8]);
#endif
    note(text, sizeof text, "%d: %.3f", 4, sum);
    sum += total("adddddddddd", x, 5, x[0], x[1], x[2], x[3], x[4], x[5], x[6], x[7], x[8], 0.5) * (text[0] - '3');
    return sum + scatter(N, x[0], x[1], x[2], x[3], x[4], x[5], x[6], x[7], x[8]) + nested(4, x[2], x[6]);
}

static double point[N], work[N], shadow[N];

static void setup(void)
{
    for (int i = 0; i < N; i++)
        point[i] = 0.6 + 0.1 * ((4 * i + 1) % N) + 0.011 * i;
}

static double value(const double *x)
{
    corpus_copy(work, x, N);
    return everything(work);
}

static double tangent(const double *x, const double *v)
{
    corpus_copy(work, x, N);
    corpus_copy(shadow, v, N);
    return __enzyme_fwddiff((void *)everything, enzyme_dup, work, shadow);
}

static void gradient(const double *x, double *g)
{
    corpus_copy(work, x, N);
    corpus_zero(g, N);
    __enzyme_autodiff((void *)everything, enzyme_dup, work, g);
}

static const struct corpus_problem problem = {
    .name = "calls_variadic",
    .size = N,
    .point = point,
    .setup = setup,
    .value = value,
    .tangent = tangent,
    .gradient = gradient,
    .coordinates = CORPUS_ALL,
};

CORPUS_MAIN(&problem)
