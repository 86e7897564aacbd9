// Every function of <math.h>, in its double and float forms: each has an argument of its own, so that a coordinate of the
// gradient is the derivative of one function at one place. value = sum_i w_i f_i(x_i).
// Functions that are locally constant (rounding, logb) have derivative zero; integer results (ilogb, lround, ...) likewise.
#define _GNU_SOURCE // exp10
#include "corpus.h"

// F(name, place, float form)
#define UNARY(F)                                                                                                        \
    F(acos, 0.3)                                                                                                       \
    F(asin, -0.4)                                                                                                      \
    F(atan, 1.7)                                                                                                       \
    F(cos, 0.9)                                                                                                        \
    F(sin, -2.3)                                                                                                       \
    F(tan, 0.6)                                                                                                        \
    F(acosh, 1.8)                                                                                                      \
    F(asinh, -0.7)                                                                                                     \
    F(atanh, 0.4)                                                                                                      \
    F(cosh, 1.1)                                                                                                       \
    F(sinh, -0.8)                                                                                                      \
    F(tanh, 0.5)                                                                                                       \
    F(exp, 0.7)                                                                                                        \
    F(exp2, -1.3)                                                                                                      \
    F(exp10, 0.4)                                                                                                      \
    F(expm1, 0.2)                                                                                                      \
    F(log, 1.6)                                                                                                        \
    F(log10, 2.4)                                                                                                      \
    F(log1p, 0.3)                                                                                                      \
    F(log2, 0.7)                                                                                                       \
    F(logb, 5.3)                                                                                                       \
    F(cbrt, -1.9)                                                                                                      \
    F(sqrt, 2.2)                                                                                                       \
    F(fabs, -1.4)                                                                                                      \
    F(erf, 0.6)                                                                                                        \
    F(erfc, -0.3)                                                                                                      \
    F(lgamma, 3.4)                                                                                                     \
    F(tgamma, 2.6)                                                                                                     \
    F(j0, 1.2)                                                                                                         \
    F(j1, 2.1)                                                                                                         \
    F(y0, 1.5)                                                                                                         \
    F(y1, 2.7)                                                                                                         \
    F(ceil, 1.4)                                                                                                       \
    F(floor, -1.6)                                                                                                     \
    F(nearbyint, 2.3)                                                                                                  \
    F(rint, -0.7)                                                                                                      \
    F(round, 0.6)                                                                                                      \
    F(roundeven, 1.2)                                                                                                  \
    F(trunc, 3.7)

#define BINARY(F)                                                                                                       \
    F(atan2, 0.8, -1.3)                                                                                                \
    F(pow, 1.7, 2.4)                                                                                                   \
    F(hypot, 1.2, -0.5)                                                                                                \
    F(copysign, 1.5, -2.0)                                                                                             \
    F(fdim, 2.1, 0.8)                                                                                                  \
    F(fmax, 0.4, 1.1)                                                                                                  \
    F(fmin, 0.4, 1.1)                                                                                                  \
    F(fmod, 7.3, 2.1)                                                                                                  \
    F(remainder, 7.9, 2.1)                                                                                             \
    F(nextafter, 0.6, 1.0)

enum { UNARY_COUNT = 39, BINARY_COUNT = 10, SIZE = UNARY_COUNT + 2 * BINARY_COUNT };

#define DOUBLE_UNARY(name, at) sum += *weights++ * name(*x++);
#define DOUBLE_BINARY(name, at, by) sum += *weights++ * name(x[0], x[1]), x += 2;

static double double_functions(const double *x, const double *weights)
{
    double sum = 0.0;
    UNARY(DOUBLE_UNARY)
    BINARY(DOUBLE_BINARY)
    return sum;
}

#define FLOAT_UNARY(name, at) sum += *weights++ * name##f(*x++);
#define FLOAT_BINARY(name, at, by) sum += *weights++ * name##f(x[0], x[1]), x += 2;

static float float_functions(const float *x, const float *weights)
{
    float sum = 0.0f;
    UNARY(FLOAT_UNARY)
    BINARY(FLOAT_BINARY)
    return sum;
}

// Functions with an integer argument, with results through pointers, with three arguments or with integer results.
enum { MIXED = 19 };

static double mixed_functions(const double *x, const double *w)
{
    double whole;
    int exponent, quotient;
    double sum = w[0] * ldexp(x[0], 3) + w[1] * scalbn(x[1], -2) + w[2] * scalbln(x[2], 2L);
    sum += w[3] * jn(3, x[3]) + w[4] * yn(2, x[4]);
    sum += w[5] * fma(x[5], x[6], x[7]);
    sum += w[6] * modf(x[8], &whole);
    sum += w[7] * whole;
    sum += w[8] * frexp(x[9], &exponent) * exponent;
    sum += w[9] * remquo(x[10], x[11], &quotient) * quotient;
    sum += w[10] * x[12] * (double)(ilogb(x[12]) + lround(x[12]) + lrint(x[12]) + llround(x[12]) + llrint(x[12]));
    sum += w[11] * nexttoward(x[13], 4.0L);
    sum += isnan(x[14]) || isinf(x[14]) || signbit(x[14]) ? 0.0 : x[14] * fpclassify(x[14]);
    sum += pow(x[15], 3.0) + pow(2.0, x[15]) + pow(x[15], -0.5);
    // Across formats: the float function of a double, the double function of a float, and back through an integer.
    sum += sinf((float)x[16]) * sqrt((double)(float)x[17]) + (double)(long)x[17] * cosf((float)x[16]);
    sum += fmaf((float)x[18], 2.0f, powf((float)x[18], 1.5f));
    return sum;
}

#define PLACE_UNARY(name, at) at,
#define PLACE_BINARY(name, at, by) at, by,
#define LABEL_UNARY(name, at) #name,
#define LABEL_BINARY(name, at, by) #name " in the first", #name " in the second",

static const double places[] = {UNARY(PLACE_UNARY) BINARY(PLACE_BINARY)};
static const char *const labels[] = {UNARY(LABEL_UNARY) BINARY(LABEL_BINARY)};
static const double mixed_places[MIXED] = {1.3, 0.7,  -0.4, 2.2, 3.1, 0.9, -1.4, 0.6, 2.7, 5.3,
                                           7.3, 2.1,  6.3,  0.8, 1.9, 1.4, 0.8,  2.6, 1.2};
static const char *const mixed_labels[MIXED] = {"ldexp", "scalbn",  "scalbln", "jn",     "yn",     "fma a", "fma b",
                                                "fma c", "modf",    "frexp",   "remquo", "remquo", "lround", "nexttoward",
                                                "classification", "pow with a constant", "sinf", "sqrt", "fmaf"};

_Static_assert(CORPUS_COUNT(places) == SIZE, "places");

static double weights[SIZE];
static float float_weights[SIZE];

static void setup(void)
{
    corpus_seed(27);
    corpus_fill(weights, SIZE, 0.5, 1.5);
    for (int i = 0; i < SIZE; i++)
        float_weights[i] = (float)weights[i];
}

static double value(const double *x)
{
    return double_functions(x, weights);
}

static double tangent(const double *x, const double *v)
{
    return __enzyme_fwddiff((void *)double_functions, enzyme_dup, x, v, enzyme_const, weights);
}

static void gradient(const double *x, double *g)
{
    corpus_zero(g, SIZE);
    __enzyme_autodiff((void *)double_functions, enzyme_dup, x, g, enzyme_const, weights);
}

static const struct corpus_problem problem = {
    .name = "mathfns",
    .size = SIZE,
    .point = places,
    .setup = setup,
    .value = value,
    .tangent = tangent,
    .gradient = gradient,
    .labels = labels,
    .coordinates = CORPUS_ALL,
};

static void to_float(float *to, const double *from)
{
    for (int i = 0; i < SIZE; i++)
        to[i] = (float)from[i];
}

CORPUS_MARKER_TYPED(float, __enzyme_fwddiff_float, int x_kind, const float *x, const float *dx, int weights_kind,
                    const float *weights)
CORPUS_MARKER_TYPED(float, __enzyme_autodiff_float, int x_kind, const float *x, float *dx, int weights_kind,
                    const float *weights)

static double float_value(const double *x)
{
    float arguments[SIZE];
    to_float(arguments, x);
    return float_functions(arguments, float_weights);
}

static double float_tangent(const double *x, const double *v)
{
    float arguments[SIZE], tangents[SIZE];
    to_float(arguments, x);
    to_float(tangents, v);
    return __enzyme_fwddiff_float((void *)float_functions, enzyme_dup, arguments, tangents, enzyme_const,
                                  float_weights);
}

static void float_gradient(const double *x, double *g)
{
    float arguments[SIZE], adjoints[SIZE];
    to_float(arguments, x);
    memset(adjoints, 0, sizeof(adjoints));
    __enzyme_autodiff_float((void *)float_functions, enzyme_dup, arguments, adjoints, enzyme_const, float_weights);
    for (int i = 0; i < SIZE; i++)
        g[i] = adjoints[i];
}

// What each float function says against the derivative of its double form at the same place.
static int float_extra(void)
{
    double single[SIZE], exact[SIZE], worst = 0.0;
    float_gradient(places, single);
    gradient(places, exact);
    for (int i = 0; i < SIZE; i++)
        worst = fmax(worst, corpus_relative(single[i], exact[i], 0.1));
    // A few units in the last place (6e-8 each) of the function, its weight and its partial.
    return corpus_check("mathfns_float", "gradient against the double functions", worst, 3e-6);
}

static const struct corpus_problem float_problem = {
    .name = "mathfns_float",
    .size = SIZE,
    .point = places,
    .value = float_value,
    .tangent = float_tangent,
    .gradient = float_gradient,
    .labels = labels,
    .extra = float_extra,
    .coordinates = 1,
    // The sum of 49 terms is about 50 and is rounded to 4e-6, over steps of 1/16 down: two to three digits remain.
    .step = 1.0 / 16.0,
    .fd_tolerance = 1e-2,
    .dot_tolerance = 1e-5, // rounding to 24 bits, 50 terms
};

static double mixed_value(const double *x)
{
    return mixed_functions(x, weights);
}

static double mixed_tangent(const double *x, const double *v)
{
    return __enzyme_fwddiff((void *)mixed_functions, enzyme_dup, x, v, enzyme_const, weights);
}

static void mixed_gradient(const double *x, double *g)
{
    corpus_zero(g, MIXED);
    __enzyme_autodiff((void *)mixed_functions, enzyme_dup, x, g, enzyme_const, weights);
}

static const struct corpus_problem mixed_problem = {
    .name = "mathfns_mixed",
    .size = MIXED,
    .point = mixed_places,
    .value = mixed_value,
    .tangent = mixed_tangent,
    .gradient = mixed_gradient,
    .labels = mixed_labels,
    .coordinates = CORPUS_ALL,
    // Three coordinates pass through float: 6e-8 over steps of 1/16 down.
    .step = 1.0 / 16.0,
    .fd_tolerance = 1e-3,
    .dot_tolerance = 1e-6, // the float products are rounded to 24 bits in another order
};

CORPUS_MAIN(&problem, &float_problem, &mixed_problem)
