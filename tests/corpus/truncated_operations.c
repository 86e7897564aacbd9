// How much precision a solver needs: the same function with operations in single and in half precision, as clones that the compiler
// makes, compared bit for bit with the same arithmetic written out; and the derivative of the clone.
#include "corpus.h"

#include "../../include/enzyme/fprt/fprt.h"

// Products and sums are not contracted: their rounding is what is compared.
#pragma STDC FP_CONTRACT OFF

enum { N = 6 };

typedef double (*objective)(const double *, int);
extern objective __enzyme_truncate_op_func(void *, ...);
extern objective __enzyme_truncate_mem_func(void *, ...);
extern double __enzyme_truncate_mem_value(double, ...);
extern double __enzyme_expand_mem_value(double, ...);

static double point[N];

static double hypotenuse(double a, double b)
{
    return sqrt(a * a + b * b);
}

// Newton's iteration for a cube root, a norm, a quotient, a sine.
static double solve(const double *x, int n)
{
    double sum = 0.0;
    for (int i = 0; i < n; i++) {
        double y = 1.0;
        for (int k = 0; k < 6; k++)
            y = y - (y * y * y - x[i]) / (3.0 * y * y);
        sum += hypotenuse(y, x[(i + 1) % n]) / (1.0 + i);
        if (y > x[i])
            sum -= sin(y);
    }
    return sum;
}

#define ROUND(format, x) format##_rounded(x)

static double single_rounded(double x)
{
    return (double)(float)x;
}

static double half_rounded(double x)
{
    return (double)(_Float16)x;
}

// To the nearest of what so many bits of exponent and of digits hold.
static double nearest(double x, int exponent, int digits)
{
    int most = (1 << (exponent - 1)) - 1, at = 0;
    if (x == 0.0 || !isfinite(x))
        return x;
    frexp(x, &at);
    at = at - 1 < 1 - most ? 1 - most : at - 1;
    double unit = ldexp(1.0, at - digits), rounded = copysign(nearbyint(fabs(x) / unit) * unit, x);
    return fabs(rounded) > ldexp(2.0 - ldexp(1.0, -digits), most) ? copysign(INFINITY, x) : rounded;
}

static double odd_rounded(double x)
{
    return nearest(x, 9, 17);
}

static double small_rounded(double x)
{
    return nearest(x, 5, 3);
}

static volatile double one = 1.0;

// Nothing but an operation.
static double itself(double x)
{
    return x * one;
}

static double sum_of_kept(double *kept, int n)
{
    for (int i = 1; i < n; i++)
        kept[i] += kept[i - 1] * kept[i];
    return kept[n - 1];
}
#define WRITTEN_OUT(name, format)                                                                                      \
    static double name(const double *x, int n)                                                                         \
    {                                                                                                                  \
        double sum = 0.0;                                                                                              \
        for (int i = 0; i < n; i++) {                                                                                  \
            double y = 1.0, in = ROUND(format, x[i]), next = ROUND(format, x[(i + 1) % n]);                            \
            for (int k = 0; k < 6; k++) {                                                                              \
                double cube = ROUND(format, ROUND(format, y * y) * y), slope = ROUND(format, ROUND(format, 3.0 * y) * y); \
                y = ROUND(format, y - ROUND(format, ROUND(format, cube - in) / slope));                                \
            }                                                                                                          \
            double squares = ROUND(format, ROUND(format, y * y) + ROUND(format, next * next));                         \
            double length = ROUND(format, sqrt(squares));                                                              \
            sum = ROUND(format, sum + ROUND(format, length / ROUND(format, 1.0 + i)));                                 \
            if (y > in)                                                                                                \
                sum = ROUND(format, sum - ROUND(format, sin(y)));                                                      \
        }                                                                                                              \
        return sum;                                                                                                    \
    }
WRITTEN_OUT(in_single, single)
WRITTEN_OUT(in_half, half)
WRITTEN_OUT(in_odd, odd)
WRITTEN_OUT(in_small, small)

static void setup(void)
{
    corpus_seed(74);
    corpus_fill(point, N, 0.5, 2.0);
}

static double value(const double *x)
{
    return solve(x, N);
}

static double tangent(const double *x, const double *v)
{
    return __enzyme_fwddiff((void *)solve, enzyme_dup, x, v, enzyme_const, N);
}

static void gradient(const double *x, double *g)
{
    corpus_zero(g, N);
    __enzyme_autodiff_void((void *)solve, enzyme_dup, x, g, enzyme_const, N);
}

static int extra(void)
{
    double in[N] = {0.0}, written_out[N] = {0.0};
    __enzyme_autodiff_void((void *)__enzyme_truncate_op_func((void *)solve, 64, 32), enzyme_dup, point, in, enzyme_const, N);
    __enzyme_autodiff_void((void *)in_single, enzyme_dup, point, written_out, enzyme_const, N);
    double single = __enzyme_truncate_op_func((void *)solve, 64, 32)(point, N);
    double again = __enzyme_truncate_op_func((void *)solve, 64, 8, 23)(point, N);
    double half = __enzyme_truncate_op_func((void *)solve, 64, 16)(point, N);
    double full = solve(point, N);
    int failed = corpus_check("truncation", "single precision", fabs(single - in_single(point, N)), 0.0);
    failed += corpus_check("truncation", "by exponent and digits", fabs(single - again), 0.0);
    failed += corpus_check("truncation", "half precision", fabs(half - in_half(point, N)), 0.0);
    failed += corpus_check("truncation", "is rounded", single != full && fabs(half - full) > fabs(single - full) ? 0.0 : 1.0, 0.5);
    double odd = __enzyme_truncate_op_func((void *)solve, 64, 9, 17)(point, N);
    double small = __enzyme_truncate_op_func((void *)solve, 64, 5, 3)(point, N);
    failed += corpus_check("truncation", "to no type's format", fabs(odd - in_odd(point, N)), 0.0);
    failed += corpus_check("truncation", "to eight bits and a sign", fabs(small - in_small(point, N)), 0.0);
    // The least, the greatest, halves between neighbours, none at all.
    static const double special[] = {0.0, -0.0, 1.0, 1.0625, 1.1875, -1.3, 31744.0, 61439.0, 61440.0, 1e300, -7e4, 6.2e-5, 6e-5,
                                     -7.7e-6, 3.9e-6, 3.8e-6, 3.814697265625e-06, 1e-310, 5e-324, INFINITY, -INFINITY};
    for (size_t i = 0; i < sizeof special / sizeof *special; i++) {
        double got = ((double (*)(double))(void *)__enzyme_truncate_op_func((void *)itself, 64, 5, 3))(special[i]);
        double wanted = nearest(special[i], 5, 3);
        int same = got == wanted && signbit(got) == signbit(wanted);
        failed += corpus_check("truncation", "of a special value", same ? 0.0 : 1.0, 0.0);
        double value = __enzyme_truncate_mem_value(special[i], 64, 5, 3);
        failed += corpus_check("truncation", "of a value", value == wanted ? 0.0 : 1.0, 0.0);
    }
    double none = ((double (*)(double))(void *)__enzyme_truncate_op_func((void *)itself, 64, 5, 3))(NAN);
    failed += corpus_check("truncation", "of a value by its type", __enzyme_truncate_mem_value_d(1.0 / 3.0, 64, 32) - single_rounded(1.0 / 3.0), 0.0);
    failed += corpus_check("truncation", "of no number", isnan(none) ? 0.0 : 1.0, 0.0);
    // Memory that holds narrower values.
    double kept[N], written[N];
    for (int i = 0; i < N; i++) {
        kept[i] = __enzyme_truncate_mem_value(point[i], 64, 32);
        written[i] = (double)(float)point[i];
    }
    double last = ((double (*)(double *, int))(void *)__enzyme_truncate_mem_func((void *)sum_of_kept, 64, 32))(kept, N);
    for (int i = 1; i < N; i++)
        written[i] = (double)(float)(written[i] + (double)(float)(written[i - 1] * written[i]));
    failed += corpus_check("truncation", "of memory", fabs(last - written[N - 1]), 0.0);
    failed += corpus_check("truncation", "back from memory", fabs(__enzyme_expand_mem_value(kept[2], 64, 32) - written[2]), 0.0);
    // A correction has no derivative: that of the operations is left.
    double rounded[N] = {0.0}, unrounded[N] = {0.0};
    __enzyme_autodiff_void((void *)__enzyme_truncate_op_func((void *)solve, 64, 11, 40), enzyme_dup, point, rounded, enzyme_const, N);
    __enzyme_autodiff_void((void *)solve, enzyme_dup, point, unrounded, enzyme_const, N);
    for (int i = 0; i < N; i++) {
        double apart = fabs(rounded[i] - unrounded[i]);
        failed += corpus_check("truncation", "derivative", apart, 1e-9 * fabs(unrounded[i]));
        failed += corpus_check("truncation", "derivative of rounded values", apart > 0.0 ? 0.0 : 1.0, 0.0);
    }
    // The same derivatives of the same operations, but written out some roundings are missing whose derivative is one.
    for (int i = 0; i < N; i++)
        failed += corpus_check("truncation", "derivative", fabs(in[i] - written_out[i]), 1e-6 * fabs(written_out[i]));
    return failed;
}

static const struct corpus_problem problem = {
    .name = "truncated_operations",
    .size = N,
    .point = point,
    .setup = setup,
    .value = value,
    .tangent = tangent,
    .gradient = gradient,
    .extra = extra,
};

CORPUS_MAIN(&problem)
