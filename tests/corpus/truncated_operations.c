// How much precision a solver needs: the same function with operations in single and in half precision, as clones that the compiler
// makes, compared bit for bit with the same arithmetic written out; and the derivative of the clone.
#include "corpus.h"

enum { N = 6 };

typedef double (*objective)(const double *, int);
extern objective __enzyme_truncate_op_func(void *, ...);

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

#define ROUND(format, x) ((double)(format)(x))
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
// Products and sums are not contracted: their rounding is what is compared.
#pragma STDC FP_CONTRACT OFF
WRITTEN_OUT(in_single, float)
WRITTEN_OUT(in_half, _Float16)

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
