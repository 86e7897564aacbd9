// Second derivatives of Rosenbrock's function as a Newton-Krylov method wants them, by all four mixes of modes, and Taylor coefficients
// to order 5 by forward mode nested five times. Markers stand before and after the functions that they differentiate, so that
// neither the order of the file nor that of the calls can be what makes it work.
// Sources: Rosenbrock, "An automatic method for finding the greatest or least value of a function" (1960); Griewank, Walther,
// "Evaluating Derivatives", chapter 13.
#include "corpus.h"

enum { N = CORPUS_SIZE(1000, 6), ORDERS = 5 };

static double point[N];

static double directional(const double *x, const double *v, int n);
static void gradient_of(const double *x, double *g, int n);

// The differentials of derivatives come first: what they differentiate is not defined yet.
static void forward_over_reverse(const double *x, const double *v, double *g, double *product, int n)
{
    __enzyme_fwddiff_void((void *)gradient_of, enzyme_dup, x, v, enzyme_dupnoneed, g, product, enzyme_const, n);
}

static void reverse_over_forward(const double *x, const double *v, double *product, int n)
{
    __enzyme_autodiff_void((void *)directional, enzyme_dup, x, product, enzyme_const, v, enzyme_const, n);
}

static void reverse_over_reverse(const double *x, double *seed, double *g, double *product, int n)
{
    __enzyme_autodiff_void((void *)gradient_of, enzyme_dup, x, product, enzyme_dup, g, seed, enzyme_const, n);
}

static double forward_over_forward(const double *x, const double *v, const double *w, int n)
{
    return __enzyme_fwddiff((void *)directional, enzyme_dup, x, w, enzyme_const, v, enzyme_const, n);
}

static double rosenbrock(const double *x, int n)
{
    double sum = 0.0;
    for (int i = 0; i + 1 < n; i++) {
        double a = x[i + 1] - x[i] * x[i], b = 1.0 - x[i];
        sum += 100.0 * a * a + b * b;
    }
    return sum;
}

static double directional(const double *x, const double *v, int n)
{
    return __enzyme_fwddiff((void *)rosenbrock, enzyme_dup, x, v, enzyme_const, n);
}

static void gradient_of(const double *x, double *g, int n)
{
    for (int i = 0; i < n; i++)
        g[i] = 0.0;
    __enzyme_autodiff_void((void *)rosenbrock, enzyme_dup, x, g, enzyme_const, n);
}

// A recurrence whose number of steps is not known before: caches that grow, differentiated again.
static double settle(double x)
{
    double y = x, sum = 0.0;
    for (int k = 0; k < 60 && fabs(y) > 1e-3; k++) {
        sum += sin(y) * y;
        y = 0.7 * y - 0.01 * y * y;
    }
    return sum;
}

static double settle_reverse(double x)
{
    return __enzyme_autodiff((void *)settle, x);
}

static double settle_twice(double x)
{
    return __enzyme_autodiff((void *)settle_reverse, x);
}

static double settle_thrice(double x)
{
    return __enzyme_fwddiff((void *)settle_twice, x, 1.0);
}

#define NESTED(f)                                                                                                       \
    static double f##_1(double x) { return __enzyme_fwddiff((void *)f, x, 1.0); }                                       \
    static double f##_2(double x) { return __enzyme_fwddiff((void *)f##_1, x, 1.0); }                                   \
    static double f##_3(double x) { return __enzyme_fwddiff((void *)f##_2, x, 1.0); }                                   \
    static double f##_4(double x) { return __enzyme_fwddiff((void *)f##_3, x, 1.0); }                                   \
    static double f##_5(double x) { return __enzyme_fwddiff((void *)f##_4, x, 1.0); }
#define ORDERS_OF(f) {f, f##_1, f##_2, f##_3, f##_4, f##_5}

static double of_sin(double x) { return sin(x); }
static double of_cos(double x) { return cos(x); }
static double of_exp(double x) { return exp(x); }
static double of_log(double x) { return log1p(x); }
static double of_root(double x) { return sqrt(1.0 + x); }
static double of_inverse(double x) { return 1.0 / (1.0 + x); }
static double of_atan(double x) { return atan(x); }
static double of_tanh(double x) { return tanh(x); }
static double of_sinh(double x) { return sinh(x); }
static double of_power(double x) { return pow(1.0 + x, 2.5); }
NESTED(of_sin)
NESTED(of_cos)
NESTED(of_exp)
NESTED(of_log)
NESTED(of_root)
NESTED(of_inverse)
NESTED(of_atan)
NESTED(of_tanh)
NESTED(of_sinh)
NESTED(of_power)

static const struct {
    const char *name;
    double (*derivative[ORDERS + 1])(double);
    double coefficient[ORDERS + 1]; // of the expansion at zero
} series[] = {
    {"sin", ORDERS_OF(of_sin), {0.0, 1.0, 0.0, -1.0 / 6.0, 0.0, 1.0 / 120.0}},
    {"cos", ORDERS_OF(of_cos), {1.0, 0.0, -0.5, 0.0, 1.0 / 24.0, 0.0}},
    {"exp", ORDERS_OF(of_exp), {1.0, 1.0, 0.5, 1.0 / 6.0, 1.0 / 24.0, 1.0 / 120.0}},
    {"log1p", ORDERS_OF(of_log), {0.0, 1.0, -0.5, 1.0 / 3.0, -0.25, 0.2}},
    {"sqrt", ORDERS_OF(of_root), {1.0, 0.5, -0.125, 0.0625, -5.0 / 128.0, 7.0 / 256.0}},
    {"inverse", ORDERS_OF(of_inverse), {1.0, -1.0, 1.0, -1.0, 1.0, -1.0}},
    {"atan", ORDERS_OF(of_atan), {0.0, 1.0, 0.0, -1.0 / 3.0, 0.0, 0.2}},
    {"tanh", ORDERS_OF(of_tanh), {0.0, 1.0, 0.0, -1.0 / 3.0, 0.0, 2.0 / 15.0}},
    {"sinh", ORDERS_OF(of_sinh), {0.0, 1.0, 0.0, 1.0 / 6.0, 0.0, 1.0 / 120.0}},
    {"pow", ORDERS_OF(of_power), {1.0, 2.5, 1.875, 0.3125, -0.0390625, 0.01171875}},
};

static void setup(void)
{
    corpus_seed(61);
    corpus_fill(point, N, -1.2, 1.2);
}

static double value(const double *x)
{
    return rosenbrock(x, N);
}

static double tangent(const double *x, const double *v)
{
    return directional(x, v, N);
}

static void gradient(const double *x, double *g)
{
    gradient_of(x, g, N);
}

static double distance(const double *a, const double *b)
{
    double most = 0.0;
    for (int i = 0; i < N; i++)
        most = fmax(most, corpus_relative(a[i], b[i], corpus_norm(b, N) / sqrt((double)N)));
    return most;
}

static int extra(void)
{
    double *v = corpus_vector(N), *g = corpus_vector(N), *moved = corpus_vector(N), *other = corpus_vector(N);
    double *product[4] = {corpus_vector(N), corpus_vector(N), corpus_vector(N), corpus_vector(N)};
    corpus_fill(v, N, -1.0, 1.0);
    forward_over_reverse(point, v, g, product[0], N);
    reverse_over_forward(point, v, product[1], N);
    corpus_copy(other, v, N);
    reverse_over_reverse(point, other, g, product[2], N);
    // Central differences of gradients; the third derivative of a polynomial of degree four and rounding leave 1e-9 or so.
    const double h = 1e-5;
    for (int side = 0; side < 2; side++) {
        for (int i = 0; i < N; i++)
            moved[i] = point[i] + (side ? -h : h) * v[i];
        gradient_of(moved, g, N);
        for (int i = 0; i < N; i++)
            product[3][i] += (side ? -g[i] : g[i]) / (2.0 * h);
    }
    int failed = corpus_check("hessian", "forward over reverse, differences", distance(product[0], product[3]), 1e-6);
    failed += corpus_check("hessian", "reverse over forward", distance(product[1], product[0]), 1e-12);
    failed += corpus_check("hessian", "reverse over reverse", distance(product[2], product[0]), 1e-12);
    double twice = forward_over_forward(point, v, v, N), dot = corpus_dot(v, product[0], N);
    failed += corpus_check("hessian", "forward over forward", corpus_relative(twice, dot, 0.0), 1e-11);

    double second = (settle_reverse(0.7 + 1e-5) - settle_reverse(0.7 - 1e-5)) / 2e-5;
    double third = (settle_twice(0.7 + 1e-5) - settle_twice(0.7 - 1e-5)) / 2e-5;
    failed += corpus_check("settle", "reverse over reverse", corpus_relative(settle_twice(0.7), second, 0.0), 1e-7);
    failed += corpus_check("settle", "forward over both", corpus_relative(settle_thrice(0.7), third, 0.0), 1e-7);

    for (size_t k = 0; k < CORPUS_COUNT(series); k++) {
        double worst = 0.0, factorial = 1.0;
        for (int order = 0; order <= ORDERS; order++) {
            factorial *= order ? order : 1;
            worst = fmax(worst, fabs(series[k].derivative[order](0.0) / factorial - series[k].coefficient[order]));
        }
        failed += corpus_check("taylor", series[k].name, worst, 1e-10);
    }
    free(v);
    free(g);
    free(moved);
    free(other);
    for (int k = 0; k < 4; k++)
        free(product[k]);
    return failed;
}

static const struct corpus_problem problem = {
    .name = "orders_of_derivatives",
    .size = N,
    .point = point,
    .setup = setup,
    .value = value,
    .tangent = tangent,
    .gradient = gradient,
    .extra = extra,
};

CORPUS_MAIN(&problem)
