// Is it the algorithm or its rounding? The same functions with more digits than a double has: operations and memory in the formats of
// x87's long double and of __float128, compared bit for bit with the same arithmetic in these types; operations of floats in double;
// formats with more digits and a narrower range; and the gradient of a function with such operations.
// corpus: native
#include "corpus.h"

#include "../../include/enzyme/fprt/mpfr.h"

// Products and sums are not contracted: their rounding is what is compared.
#pragma STDC FP_CONTRACT OFF

enum { N = 5, KEPT = 40 };

typedef double (*objective)(const double *, int);
extern void *__enzyme_truncate_op_func(void *, ...);
extern void *__enzyme_truncate_mem_func(void *, ...);
extern double __enzyme_truncate_mem_value(double, ...);
extern double __enzyme_expand_mem_value(double, ...);

static double point[N];

// What is constant the compiler works out in double, before anything is made wider.
static volatile double two = 2.0;

// Muller's recurrence, which goes to 6, and to 100 where it is rounded, and a root.
#define MULLER(name, real)                                                                                             \
    static real name(const double *x, int n)                                                                           \
    {                                                                                                                  \
        real sum = 0;                                                                                                  \
        for (int i = 0; i < n; i++) {                                                                                  \
            real u = two, v = -two * two, y = 1;                                                                                 \
            for (int k = 0; k < 14; k++) {                                                                             \
                real next = 111 - 1130 / v + 3000 / (u * v);                                                           \
                u = v;                                                                                                 \
                v = next;                                                                                              \
            }                                                                                                          \
            for (int k = 0; k < 6; k++)                                                                                \
                y = y - (y * y * y - x[i]) / (3 * y * y);                                                              \
            sum += y > x[i] ? v * y : v + y;                                                                           \
        }                                                                                                              \
        return sum;                                                                                                    \
    }
MULLER(muller, double)
MULLER(muller_extended, long double)
MULLER(muller_quadruple, __float128)

static double solve(const double *x, int n)
{
    double sum = 0.0;
    for (int i = 0; i < n; i++) {
        double y = 1.0;
        for (int k = 0; k < 6; k++)
            y = y - (y * y * y - x[i]) / (3.0 * y * y);
        sum += sqrt(y * y + sin(x[(i + 1) % n]) / (1.0 + i)) + pow(y, 3) * exp(-x[i]) + fma(y, y, -x[i]);
    }
    return sum;
}

static double fused(double x, double y, double z)
{
    return x * y + z;
}

// What memory holds, between functions: differences of neighbours, again and again.
static void difference(double *kept, int n)
{
    for (int i = 0; i + 1 < n; i++)
        kept[i] = (kept[i + 1] - kept[i]) / 3.0;
}

static __attribute__((noinline)) double ratio(double *kept, int n, double scale)
{
    double large = 0.0;
    for (int i = 0; i < n; i++)
        large = fmax(large, fabs(kept[i] * scale));
    return large / 3.0;
}

static double table(double *kept, int n, int times)
{
    for (int k = 0; k < times; k++)
        difference(kept, n - k);
    double sum = -0.0;
    for (int i = 0; i < n - times; i++)
        sum += kept[i] < 0.0 ? -kept[i] : kept[i] * (double)(i + 1);
    long whole = (long)(sum * 1e6);
    return sum + ratio(kept, n, 7.0) + (double)whole;
}

static double table_quadruple(const double *x, int n, int times)
{
    __float128 kept[KEPT], sum = -0.0, large = 0;
    for (int i = 0; i < n; i++)
        kept[i] = x[i];
    for (int k = 0; k < times; k++)
        for (int i = 0; i + 1 < n - k; i++)
            kept[i] = (kept[i + 1] - kept[i]) / 3;
    for (int i = 0; i < n - times; i++)
        sum += kept[i] < 0 ? -kept[i] : kept[i] * (i + 1);
    for (int i = 0; i < n; i++) {
        __float128 scaled = kept[i] * 7;
        scaled = scaled < 0 ? -scaled : scaled;
        large = scaled > large ? scaled : large;
    }
    long whole = (long)(sum * 1e6);
    return (double)(sum + large / 3 + whole);
}

static float in_float(const float *x, int n)
{
    float sum = 0.0f;
    for (int i = 0; i < n; i++)
        sum += sqrtf(x[i] * x[i] + 1.0f) / (float)(i + 3) - x[i] * 0.1f;
    return sum;
}

static float operations_in_double(const float *x, int n)
{
    float sum = 0.0f;
    for (int i = 0; i < n; i++) {
        float square = (float)((double)x[i] * (double)x[i]), more = (float)((double)square + 1.0);
        float quotient = (float)((double)(float)sqrt((double)more) / (double)(i + 3));
        float product = (float)((double)x[i] * (double)0.1f);
        sum = (float)((double)sum + (double)(float)((double)quotient - (double)product));
    }
    return sum;
}

static float memory_in_double(const float *x, int n)
{
    double sum = 0.0;
    for (int i = 0; i < n; i++)
        sum += sqrt((double)x[i] * x[i] + 1.0) / (double)(i + 3) - x[i] * (double)0.1f;
    return (float)sum;
}

static double inverse(double x)
{
    return two / (x * two);
}

static double slope_of_inverse(double x)
{
    return __enzyme_autodiff((void *)inverse, x);
}

static double greater(double x, double y)
{
    return x > y ? 1.0 : x == y ? 2.0 : x < y ? 3.0 : 4.0;
}

static double itself(double x)
{
    static volatile double one = 1.0;
    return x * one;
}

static void setup(void)
{
    corpus_seed(75);
    corpus_fill(point, N, 0.5, 2.0);
}

static double value(const double *x)
{
    return solve(x, N);
}

static double tangent(const double *x, const double *v)
{
    return __enzyme_fwddiff(__enzyme_truncate_op_func((void *)solve, 64, 15, 112), enzyme_dup, x, v, enzyme_const, N);
}

static void gradient(const double *x, double *g)
{
    corpus_zero(g, N);
    __enzyme_autodiff_void(__enzyme_truncate_op_func((void *)solve, 64, 15, 63), enzyme_dup, x, g, enzyme_const, N);
}

static double expanded(double kept)
{
    return __enzyme_expand_mem_value(kept, 64, 15, 112);
}

static int same(const char *what, double got, double wanted)
{
    int equal = (isnan(got) && isnan(wanted)) || (got == wanted && signbit(got) == signbit(wanted));
    if (!equal)
        printf("%s: %.17g, not %.17g\n", what, got, wanted);
    return corpus_check("wider", what, equal ? 0.0 : 1.0, 0.0);
}

static int extra(void)
{
    int failed = 0;
    // All of a function in another type.
    double extended = ((objective)__enzyme_truncate_mem_func((void *)muller, 64, 80))(point, N);
    double quadruple = ((objective)__enzyme_truncate_mem_func((void *)muller, 64, 15, 112))(point, N);
    failed += same("as long double", __enzyme_expand_mem_value(extended, 64, 80), (double)muller_extended(point, N));
    failed += same("as __float128", expanded(quadruple), (double)muller_quadruple(point, N));
    failed += corpus_check("wider", "is another number", muller(point, N) != expanded(quadruple) ? 0.0 : 1.0, 0.0);
    // From 2 and -4 it is (3 6^(n+1) - 4 5^(n+1)) / (3 6^n - 4 5^n); the root of 1 is 1.
    const double one[1] = {1.0};
    double many = ((objective)__enzyme_truncate_mem_func((void *)muller, 64, 256))(one, 1);
    double limit = (3.0 * pow(6.0, 16) - 4.0 * pow(5.0, 16)) / (3.0 * pow(6.0, 15) - 4.0 * pow(5.0, 15)) + 1.0;
    many = __enzyme_expand_mem_value(many, 64, 256);
    failed += corpus_check("wider", "in 256 bits", fabs(many - limit), 1e-14);
    // Operations alone: twice rounded.
    double (*fma_extended)(double, double, double) = (double (*)(double, double, double))__enzyme_truncate_op_func((void *)fused, 64, 15, 63);
    for (int i = 0; i < N; i++) {
        double x = point[i], y = point[(i + 1) % N], product = (double)((long double)x * y);
        failed += same("operations", fma_extended(x, y, -product), (double)((long double)product - product));
    }
    double (*plain)(double, double, double) = (double (*)(double, double, double))__enzyme_truncate_op_func((void *)fused, 64, 15, 112);
    failed += same("of infinities", plain(1e300, 1e300, -INFINITY), (double)NAN);
    failed += same("that overflow", plain(-1e300, 1e300, 1.0), -INFINITY);
    failed += same("of zeros", plain(-0.0, 1.0, -0.0), -0.0);
    // Memory.
    static double kept[KEPT], values[KEPT];
    for (int i = 0; i < KEPT; i++) {
        values[i] = exp(0.1 * i) * 1e-3;
        kept[i] = __enzyme_truncate_mem_value(values[i], 64, 15, 112);
    }
    double sum = ((double (*)(double *, int, int))__enzyme_truncate_mem_func((void *)table, 64, 15, 112))(kept, KEPT, 9);
    failed += same("memory", expanded(sum), table_quadruple(values, KEPT, 9));
    failed += corpus_check("wider", "memory says where", isnan(kept[0]) && !isnan(expanded(kept[0])) ? 0.0 : 1.0, 0.0);
    // Comparisons and special numbers.
    double (*compare)(double, double) = (double (*)(double, double))__enzyme_truncate_mem_func((void *)greater, 64, 15, 112);
    double third = __enzyme_fprt_64_52_new(1.0, 15, 112, 2, 0), mark = kept[0];
    failed += same("less", expanded(compare(mark, 1e300)), 3.0);
    failed += same("equal", expanded(compare(mark, mark)), 2.0);
    failed += same("unordered", expanded(compare(NAN, mark)), 4.0);
    failed += same("one", third, 1.0);
    static const double special[] = {0.0, -0.0, INFINITY, -INFINITY, 5e-324, -1.7976931348623157e308};
    for (size_t i = 0; i < sizeof special / sizeof *special; i++)
        failed += same("special", ((double (*)(double))__enzyme_truncate_mem_func((void *)itself, 64, 15, 112))(special[i]), special[i]);
    // A derivative in many digits.
    double slope = ((double (*)(double))__enzyme_truncate_mem_func((void *)slope_of_inverse, 64, 15, 112))(3.0);
    failed += same("derivative", expanded(slope), -1.0 / 9.0);
    failed += corpus_check("wider", "derivative is kept", isnan(slope) ? 0.0 : 1.0, 0.0);
    // More digits, but a narrower range: eight bits of exponent end at 2^128.
    double (*mixed)(double) = (double (*)(double))__enzyme_truncate_op_func((void *)itself, 64, 8, 60);
    failed += same("narrower range", mixed(1e39), (double)INFINITY);
    failed += same("more digits", mixed(1.0 / 3.0), 1.0 / 3.0);
    // Floats.
    float some[N];
    for (int i = 0; i < N; i++)
        some[i] = (float)point[i] * 3.0f;
    typedef float (*of_floats)(const float *, int);
    failed += same("floats", ((of_floats)__enzyme_truncate_op_func((void *)in_float, 32, 64))(some, N), operations_in_double(some, N));
    float in_memory = ((of_floats)__enzyme_truncate_mem_func((void *)in_float, 32, 64))(some, N);
    extern float __enzyme_expand_mem_value_f(float, int, int);
    failed += same("floats in memory", __enzyme_expand_mem_value_f(in_memory, 32, 64), memory_in_double(some, N));
    // Narrower formats, by calls.
    const double numbers[] = {1.0 / 3.0, -7e4, 6.1e-5, 3e-8, 1e-46, -2e-39, 65519.9, 3.41e38, 0.0, -HUGE_VAL};
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        const double x = numbers[i];
        failed += same("as float", __enzyme_fprt_64_52_new(x, 8, 23, 1, "here"), (double)(float)x);
        failed += same("as half", __enzyme_fprt_64_52_get(__enzyme_fprt_64_52_new(x, 5, 10, 1, 0), 5, 10, 1, 0), (double)(_Float16)x);
    }
    __enzyme_fprt_64_52_delete(kept[1], 15, 112, 2, 0);
    failed += same("deleted", expanded(kept[1]), (double)NAN);
    __enzyme_fprt_delete_all();
    return failed;
}

static const struct corpus_problem problem = {
    .name = "wider_operations",
    .size = N,
    .point = point,
    .setup = setup,
    .value = value,
    .tangent = tangent,
    .gradient = gradient,
    .extra = extra,
};

CORPUS_MAIN(&problem)
