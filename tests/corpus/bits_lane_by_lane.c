// Functions of the mathematical library for vectors as libraries write them where a processor lacks instructions (the
// crate wide, from A. Fog's vector class library): rounding to an integer by adding a power of two that has the sign of
// the number, comparisons of 64 bits lane by lane, signs spread over a lane by shifts of scalars, choices by
// `((a ^ b) & mask) ^ b`, powers of two by bits, the small ones on a way of their own. Beside them scalars with
// branches and a square root by an instruction. The program is the energy of charges whose repulsion is screened.
// corpus: native
#include "corpus.h"

#if defined(__x86_64__)
#include <emmintrin.h>
#endif

enum { N = CORPUS_SIZE(40, 8) };

#if defined(__x86_64__)
static __m128i choose(__m128i mask, __m128i a, __m128i b)
{
    return _mm_xor_si128(_mm_and_si128(_mm_xor_si128(a, b), mask), b);
}

static __m128i sign_of(__m128d x)
{
    int64_t lanes[2];
    _mm_storeu_si128((__m128i *)lanes, _mm_castpd_si128(x));
    return _mm_set_epi64x(lanes[1] >> 63, lanes[0] >> 63);
}

static __m128i is_exponent(__m128d x, int64_t exponent)
{
    __m128i bits = _mm_and_si128(_mm_castpd_si128(x), _mm_set1_epi64x(0x7ff0000000000000));
    int64_t lanes[2];
    _mm_storeu_si128((__m128i *)lanes, bits);
    return _mm_set_epi64x(lanes[1] == exponent ? -1 : 0, lanes[0] == exponent ? -1 : 0);
}

static __m128d nearest(__m128d x)
{
    __m128d sign = _mm_and_pd(x, _mm_set1_pd(-0.0)), large = _mm_or_pd(_mm_set1_pd(0x1p52), sign);
    return _mm_sub_pd(_mm_add_pd(x, large), large);
}

static __m128d power_of_two(__m128d n)
{
    __m128i bits = _mm_slli_epi64(_mm_castpd_si128(_mm_add_pd(n, _mm_set1_pd(0x1p52 + 1023.0))), 52);
    __m128d small = _mm_cmplt_pd(n, _mm_set1_pd(-1022.0));
    if (_mm_movemask_pd(small) != 0) {
        double from[2];
        _mm_storeu_pd(from, _mm_add_pd(n, _mm_set1_pd(1074.0)));
        __m128i places = _mm_set_epi64x((int64_t)1 << ((int64_t)from[1] & 63), (int64_t)1 << ((int64_t)from[0] & 63));
        bits = choose(_mm_castpd_si128(small), places, bits);
    }
    return _mm_castsi128_pd(bits);
}

// Infinity and NaN are as they are, and arguments that are far below zero give zero.
static __m128d exponential(__m128d x)
{
    __m128d n = nearest(_mm_mul_pd(x, _mm_set1_pd(1.4426950408889634)));
    __m128d r = _mm_sub_pd(x, _mm_mul_pd(n, _mm_set1_pd(0.6931471805599453))), sum = _mm_set1_pd(1.0);
    for (int k = 14; k > 0; k--)
        sum = _mm_add_pd(_mm_set1_pd(1.0), _mm_mul_pd(_mm_mul_pd(r, _mm_set1_pd(1.0 / k)), sum));
    __m128i result = _mm_castpd_si128(_mm_mul_pd(sum, power_of_two(n)));
    __m128i below = _mm_castpd_si128(_mm_cmplt_pd(x, _mm_set1_pd(-700.0)));
    result = _mm_andnot_si128(below, result);
    return _mm_castsi128_pd(choose(is_exponent(x, 0x7ff0000000000000), _mm_castpd_si128(x), result));
}

// Odd: that of the size, with the sign of the argument.
static __m128d sigmoid(__m128d x)
{
    __m128d size = _mm_andnot_pd(_mm_set1_pd(-0.0), x), decay = exponential(_mm_sub_pd(_mm_setzero_pd(), size));
    __m128d y = _mm_div_pd(_mm_sub_pd(_mm_set1_pd(1.0), decay), _mm_add_pd(_mm_set1_pd(1.0), decay));
    __m128d minus = _mm_xor_pd(y, _mm_set1_pd(-0.0));
    return _mm_castsi128_pd(choose(sign_of(x), _mm_castpd_si128(minus), _mm_castpd_si128(y)));
}

// To the nearest integer, with the sign of the argument.
static double whole(double x)
{
    double large = copysign(0x1p52, x);
    return (x + large) - large;
}

// The same by the bits of the sum, which count.
static double whole_by_bits(double x)
{
    double sum = x + 0x1.8p52, none = 0x1.8p52;
    int64_t bits, zero;
    memcpy(&bits, &sum, sizeof bits);
    memcpy(&zero, &none, sizeof zero);
    return (double)(bits - zero);
}

// Of a density, to which another is added that is as large: a logarithm, but for a constant.
static double logarithm_by_bits(double x)
{
    double density = x * 1e18 + 7e17;
    int64_t bits;
    memcpy(&bits, &density, sizeof bits);
    return (double)bits * 0x1p-52;
}

// Below it, as integers of 64 bits become floats without an instruction.
static __m128d below(__m128d x)
{
    double from[2];
    _mm_storeu_pd(from, x);
    __m128i whole = _mm_set_epi64x((int64_t)from[1], (int64_t)from[0]);
    whole = _mm_or_si128(_mm_and_si128(whole, _mm_set1_epi64x(0xffffffffffff)), _mm_set1_epi64x(0x4330000000000000));
    return _mm_sub_pd(_mm_castsi128_pd(whole), _mm_set1_pd(0x1p52));
}

static double exponential_of_one(double x)
{
    double n = whole(x * 1.4426950408889634), r = x - n * 0.6931471805599453, sum = 1.0, scale;
    for (int k = 14; k > 0; k--)
        sum = 1.0 + r / k * sum;
    int64_t bits = n < -1022.0 ? (int64_t)1 << (int64_t)(n + 1074.0) : ((int64_t)n + 1023) << 52;
    memcpy(&scale, &bits, sizeof scale);
    return sum * scale;
}

static double root(double x)
{
    double y;
    __asm__("sqrtsd %1, %0" : "=x"(y) : "x"(x));
    return y;
}

static double energy(const double *x)
{
    __m128d sum = _mm_setzero_pd();
    double rest = 0.0;
    for (int i = 0; i < N; i += 2) {
        __m128d place = _mm_loadu_pd(x + i);
        for (int j = 0; j < N; j += 2) {
            __m128d apart = _mm_sub_pd(place, _mm_loadu_pd(x + (j + i + 2) % N));
            __m128d square = _mm_add_pd(_mm_mul_pd(apart, apart), _mm_set1_pd(0.1));
            sum = _mm_add_pd(sum, _mm_mul_pd(exponential(_mm_sub_pd(_mm_setzero_pd(), square)), sigmoid(apart)));
        }
        __m128d size = _mm_andnot_pd(_mm_set1_pd(-0.0), place);
        sum = _mm_add_pd(sum, _mm_mul_pd(size, below(_mm_mul_pd(size, _mm_set1_pd(5.0)))));
        double drift = x[i] - x[(i + 1) % N];
        rest += logarithm_by_bits(drift * drift) + exponential_of_one(drift) * root(1.0 + drift * drift) +
                (whole(3.0 * x[i]) + whole_by_bits(2.0 * x[i])) * drift;
    }
    return _mm_cvtsd_f64(_mm_add_sd(sum, _mm_unpackhi_pd(sum, sum))) + rest;
}
#else
static double energy(const double *x)
{
    double sum = 0.0;
    for (int i = 0; i < N; i++)
        sum += exp(-x[i] * x[i]) * tanh(x[i] - x[(i + 1) % N]);
    return sum;
}
#endif

static double point[N];

static void setup(void)
{
    corpus_seed(12);
    corpus_fill(point, N, -1.9, 1.9);
}

static double value(const double *x)
{
    return energy(x);
}

static double tangent(const double *x, const double *v)
{
    return __enzyme_fwddiff((void *)energy, enzyme_dup, x, v);
}

static void gradient(const double *x, double *g)
{
    corpus_zero(g, N);
    __enzyme_autodiff((void *)energy, enzyme_dup, x, g);
}

static const struct corpus_problem problem = {
    .name = "bits_lane_by_lane",
    .size = N,
    .point = point,
    .setup = setup,
    .value = value,
    .tangent = tangent,
    .gradient = gradient,
    .step = 1.0 / 65536.0, // roundings jump
};

CORPUS_MAIN(&problem)
