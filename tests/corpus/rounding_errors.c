// How far rounding may have carried a result off: bounds to first order, against the same computation in higher precision. The
// quadratic formula with and without cancellation, a variance in one pass and in two, a sum up and down, a Horner scheme,
// a Newton iteration whose errors do not add up, in double and in single precision, through memory and through calls.
// Source: Higham, "Accuracy and Stability of Numerical Algorithms", chapters 1, 2 and 5.
#include "corpus.h"

enum { N = 8 };

extern double __enzyme_error_estimate(void *, ...);
extern float __enzyme_error_estimate_float(void *, ...);

static double point[N];

#define FORMULAS(real, name, root)                                                                                     \
    static real name##_small_root(real b, real c)                                                                      \
    {                                                                                                                  \
        return -b + root(b * b - c);                                                                                   \
    }                                                                                                                  \
    static real name##_stable_root(real b, real c)                                                                     \
    {                                                                                                                  \
        return -c / (b + root(b * b - c));                                                                             \
    }                                                                                                                  \
    static real name##_one_pass(const real *x, int n)                                                                  \
    {                                                                                                                  \
        real sum = 0, squares = 0;                                                                                     \
        for (int i = 0; i < n; i++) {                                                                                  \
            sum += x[i];                                                                                               \
            squares += x[i] * x[i];                                                                                    \
        }                                                                                                              \
        return (squares - sum * sum / (real)n) / (real)(n - 1);                                                        \
    }                                                                                                                  \
    __attribute__((noinline)) static real name##_mean(const real *x, int n)                                            \
    {                                                                                                                  \
        real sum = 0;                                                                                                  \
        for (int i = 0; i < n; i++)                                                                                    \
            sum += x[i];                                                                                               \
        return sum / (real)n;                                                                                          \
    }                                                                                                                  \
    static real name##_two_passes(const real *x, int n)                                                                \
    {                                                                                                                  \
        real mean = name##_mean(x, n), rest[N], squares = 0;                                                           \
        for (int i = 0; i < n; i++)                                                                                    \
            rest[i] = x[i] - mean;                                                                                     \
        for (int i = 0; i < n; i++)                                                                                    \
            squares += rest[i] * rest[i];                                                                              \
        return squares / (real)(n - 1);                                                                                \
    }                                                                                                                  \
    static real name##_polynomial(real x)                                                                              \
    {                                                                                                                  \
        static const real c[] = {-1, 7, -21, 35, -35, 21, -7, 1}; /* (x - 1)^7 */                                       \
        real y = c[7];                                                                                                 \
        for (int i = 6; i >= 0; i--)                                                                                   \
            y = y * x + c[i];                                                                                          \
        return y;                                                                                                      \
    }

FORMULAS(float, single, sqrtf)
FORMULAS(double, twice, sqrt)
FORMULAS(long double, more, sqrtl)

static double newton(double a)
{
    double y = a;
    for (int i = 0; i < 8; i++)
        y = 0.5 * (y + a / y);
    return y;
}

static double by_magnitudes(double x, double y)
{
    return fmax(fabs(x), -y) + exp(sin(x) - log(y));
}

// The real part of a product by the function that compilers call for it: what cancels there is relative to the other part.
extern double _Complex __muldc3(double, double, double, double);

static double real_of_product(double a, double b, double c, double d)
{
    return __real__ __muldc3(a, b, c, d);
}

static double loss(const double *x)
{
    return twice_two_passes(x, N) + twice_small_root(x[0], 1.0) + newton(x[1]) + twice_polynomial(x[2]);
}

static void setup(void)
{
    corpus_seed(91);
    corpus_fill(point, N, 1.5, 2.5);
}

static double value(const double *x)
{
    return loss(x);
}

static double tangent(const double *x, const double *v)
{
    return __enzyme_fwddiff((void *)loss, enzyme_dup, x, v);
}

static void gradient(const double *x, double *g)
{
    corpus_zero(g, N);
    __enzyme_autodiff_void((void *)loss, enzyme_dup, x, g);
}

// A bound holds, and is not as large as `slack` times what it bounds.
static int bounds(const char *what, double error, double bound, double slack)
{
    int failed = corpus_check("bound", what, error > bound ? error : 0.0, 0.0);
    return failed + corpus_check("not too large", what, bound > slack ? bound : 0.0, 0.0);
}

static int extra(void)
{
    int failed = 0;
    for (int k = 0; k < 3; k++) {
        // Whole numbers and powers of two, which single precision holds as well.
        double b = 100.0 * (k + 1), c = 0.5, x[N], none[N] = {0.0};
        float x_single[N], none_single[N] = {0.0f};
        long double x_more[N];
        for (int i = 0; i < N; i++) {
            x[i] = 1000.0 + 0.25 * ((i * 5 + k) % N);
            x_single[i] = (float)x[i];
            x_more[i] = x[i];
        }
#define CHECK(what, slack, function, marker, of, ...)                                                                  \
        failed += bounds(what, (double)fabsl((long double)of - more_##function),                                        \
                         (double)marker(__VA_ARGS__), slack)
        CHECK("cancelling root", 1e-13, small_root(b, c), __enzyme_error_estimate, twice_small_root(b, c),
              (void *)twice_small_root, b, 0.0, c, 0.0);
        CHECK("stable root", 1e-17, stable_root(b, c), __enzyme_error_estimate, twice_stable_root(b, c),
              (void *)twice_stable_root, b, 0.0, c, 0.0);
        CHECK("variance, one pass", 1e-7, one_pass(x_more, N), __enzyme_error_estimate, twice_one_pass(x, N),
              (void *)twice_one_pass, enzyme_dup, x, none, enzyme_const, N);
        CHECK("variance, two passes", 1e-11, two_passes(x_more, N), __enzyme_error_estimate, twice_two_passes(x, N),
              (void *)twice_two_passes, enzyme_dup, x, none, enzyme_const, N);
        CHECK("in single precision", 2e-2, two_passes(x_more, N), __enzyme_error_estimate_float,
              single_two_passes(x_single, N), (void *)single_two_passes, enzyme_dup, x_single, none_single, enzyme_const, N);
        double near = 1.0 + 1.0 / (64 << k);
        CHECK("a root of multiplicity seven", 1e-13, polynomial(near), __enzyme_error_estimate, twice_polynomial(near),
              (void *)twice_polynomial, near, 0.0);
    }
    double above = 1.0 + 0x1p-30, below = 1.0 - 0x1p-30, product = real_of_product(above, 1.0, below, 1.0);
    double bound = __enzyme_error_estimate((void *)real_of_product, above, 0.0, 1.0, 0.0, below, 0.0, 1.0, 0.0);
    failed += bounds("a part of a complex product", fabs(product + 0x1p-60), bound, 1e-14);
    // What is given as the error of an argument comes out, times the slope.
    double given = __enzyme_error_estimate((void *)newton, 2.0, 1e-6), exact = 0.5e-6 / sqrt(2.0);
    failed += corpus_check("bound", "of the argument", given >= exact && given < 5e-6 ? 0.0 : 1.0, 0.0);
    // Signs do not cancel, choices add nothing.
    double sum = __enzyme_error_estimate((void *)by_magnitudes, -3.0, 1e-6, 0.5, 1e-6);
    double slopes = 1e-6 * (1.0 + (fabs(cos(-3.0)) + 2.0) * exp(sin(-3.0) - log(0.5)));
    failed += corpus_check("bound", "of two arguments", fabs(sum - slopes), 1e-14);
    return failed;
}

static const struct corpus_problem problem = {
    .name = "rounding_errors",
    .size = N,
    .point = point,
    .setup = setup,
    .value = value,
    .tangent = tangent,
    .gradient = gradient,
    .extra = extra,
};

CORPUS_MAIN(&problem)
