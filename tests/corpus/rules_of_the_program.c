// A chemical equilibrium found by Newton's method, differentiated by the implicit function theorem: rules that the program registers
// take the place of a derivative of the iteration, whose steps have none that matters. Beside it the other statements that a
// program makes: a function taken for a library's, one that is inactive, one called inactively, a value through which no
// derivative flows, and a function that is defined in no file of ours but has a rule.
// Source: Griewank, Walther, "Evaluating Derivatives", chapter 15.
//
// corpus: link O2
#include "corpus.h"

enum { SIZE = 3 };

static double point[SIZE];
static int used_gradient, used_derivative, used_norm;

// The root of y + a exp(y) = b, stored at y.
__attribute__((noinline)) static void equilibrium(const double *ab, double *y)
{
    double at = 0.0;
    for (int k = 0; k < 50; k++)
        at -= (at + ab[0] * exp(at) - ab[1]) / (1.0 + ab[0] * exp(at));
    *y = at;
}

static void *equilibrium_augmented(const double *ab, double *dab, double *y, double *dy)
{
    (void)dab, (void)dy;
    double *tape = malloc(2 * sizeof *tape);
    equilibrium(ab, y);
    tape[0] = exp(*y);
    tape[1] = 1.0 + ab[0] * tape[0];
    return tape;
}

static void equilibrium_reverse(const double *ab, double *dab, double *y, double *dy, double *tape)
{
    (void)ab, (void)y;
    used_gradient++;
    dab[0] -= *dy * tape[0] / tape[1];
    dab[1] += *dy / tape[1];
    *dy = 0.0;
    free(tape);
}

static void equilibrium_forward(const double *ab, const double *dab, double *y, double *dy)
{
    used_derivative++;
    equilibrium(ab, y);
    *dy = (dab[1] - dab[0] * exp(*y)) / (1.0 + ab[0] * exp(*y));
}

void *__enzyme_register_gradient_equilibrium[] = {(void *)equilibrium, (void *)equilibrium_augmented,
                                                  (void *)equilibrium_reverse};
void *__enzyme_register_derivative_equilibrium[] = {(void *)equilibrium, (void *)equilibrium_forward};

// Scalars and an integer; the rule has no shadow for it, that of `scaled` below has one.
static double weighted(double a, int n, double b)
{
    return a * b * n;
}

struct two {
    double a, b;
};

static double weighted_augmented(double a, int n, double b)
{
    return weighted(a, n, b);
}

static struct two weighted_reverse(double a, int n, double b, double seed)
{
    struct two adjoints = {seed * b * n, seed * a * n};
    return adjoints;
}

static struct two weighted_forward(double a, double da, int n, double b, double db)
{
    struct two both = {weighted(a, n, b), (da * b + a * db) * n};
    return both;
}

void *__enzyme_register_gradient_weighted[] = {(void *)weighted, (void *)weighted_augmented, (void *)weighted_reverse};
void *__enzyme_register_derivative_weighted[] = {(void *)weighted, (void *)weighted_forward};

// What a library without source computes; constant memory has no shadow.
__attribute__((weak)) double norm_of_library(const double *v, int n, double power);

static double norm_augmented(const double *v, double *dv, int n, int dn, double power)
{
    (void)dv, (void)dn;
    return norm_of_library(v, n, power);
}

static double norm_reverse(const double *v, double *dv, int n, int dn, double power, double seed)
{
    (void)dn;
    used_norm++;
    double slope = 0.0;
    for (int i = 0; i < n; i++) {
        slope += pow(fabs(v[i]), power) * log(fabs(v[i]));
        if (dv)
            dv[i] += seed * pow(fabs(v[i]), power - 1.0) * (v[i] < 0.0 ? -1.0 : 1.0) * power;
    }
    return seed * slope;
}

static struct two norm_forward(const double *v, const double *dv, int n, double power, double dpower)
{
    struct two both = {norm_of_library(v, n, power), 0.0};
    for (int i = 0; i < n; i++) {
        if (dv)
            both.b += dv[i] * pow(fabs(v[i]), power - 1.0) * (v[i] < 0.0 ? -1.0 : 1.0) * power;
        both.b += dpower * pow(fabs(v[i]), power) * log(fabs(v[i]));
    }
    return both;
}

void *__enzyme_register_gradient_norm[3] = {(void *)norm_of_library, (void *)norm_augmented, (void *)norm_reverse};
void *__enzyme_register_derivative_norm[2] = {(void *)norm_of_library, (void *)norm_forward};

static double logarithm(double x)
{
    return log1p(x);
}
void *__enzyme_function_like_logarithm[2] = {(void *)logarithm, (void *)"log1p"};

static double count_of_calls;
static double noted(double x)
{
    count_of_calls += x > 0.0;
    return count_of_calls > 1e9 ? x : 1.0;
}
void *__enzyme_inactivefn_noted[] = {(void *)noted};

static double scale_of(double x)
{
    return x > -10.0 ? 2.0 : x;
}

CORPUS_MARKER(double, __enzyme_call_inactive)
extern double __enzyme_ignore_derivatives(double x);

static const double fixed[2] = {0.3, -0.4};

static double value(const double *x)
{
    double ab[2] = {x[0] * x[1] + 1.0, x[2] + 2.0}, y;
    equilibrium(ab, &y);
    double own[2] = {x[0], -x[2]};
    double sum = weighted(y, 3, x[1]) + norm_of_library(own, 2, 2.5 + 0.1 * x[1]) + norm_of_library(fixed, 2, x[0] + 1.0);
    sum += logarithm(x[0]) * noted(x[1]);
    sum += __enzyme_call_inactive((void *)scale_of, x[2]) * x[2];
    return sum * (x[1] > 100.0 ? __enzyme_ignore_derivatives(x[1]) : 1.0);
}

__attribute__((noinline)) double norm_of_library(const double *v, int n, double power)
{
    double sum = 0.0;
    for (int i = 0; i < n; i++)
        sum += pow(fabs(v[i]), power);
    return sum;
}

static void setup(void)
{
    corpus_seed(63);
    corpus_fill(point, SIZE, 0.3, 1.1);
}

static double tangent(const double *x, const double *v)
{
    return __enzyme_fwddiff((void *)value, enzyme_dup, x, v);
}

static void gradient(const double *x, double *g)
{
    corpus_zero(g, SIZE);
    __enzyme_autodiff_void((void *)value, enzyme_dup, x, g);
}

static double through_ignored(double x)
{
    return __enzyme_ignore_derivatives(x * x) * x;
}

static int extra(void)
{
    int failed = corpus_check("rules", "the rules were used", used_gradient > 0 && used_derivative > 0 && used_norm > 0 ? 0.0 : 1.0, 0.5);
    double stopped = __enzyme_autodiff((void *)through_ignored, 3.0);
    failed += corpus_check("rules", "ignored derivatives", fabs(stopped - 9.0), 1e-14);
    double root[2] = {1.5, 2.0}, droot[2] = {0.0, 0.0}, y, dy = 1.0;
    __enzyme_autodiff_void((void *)equilibrium, enzyme_dup, root, droot, enzyme_dup, &y, &dy);
    failed += corpus_check("rules", "the function itself", fabs(droot[1] - 1.0 / (1.0 + 1.5 * exp(y))), 1e-14);
    return failed;
}

static const struct corpus_problem problem = {
    .name = "rules_of_the_program",
    .size = SIZE,
    .point = point,
    .setup = setup,
    .value = value,
    .tangent = tangent,
    .gradient = gradient,
    .extra = extra,
};

CORPUS_MAIN(&problem)
