// Numbers made integers by the instructions of x86: an exponential as libraries of vectors have it, with the nearest power of two by
// the bits of its exponent; fractions of four numbers, of two and of one. Machines without AVX2 skip it.
// corpus: native
#include "corpus.h"

enum { SIZE = 8 };

#if defined(__x86_64__)
#include <immintrin.h>
#define AVX __attribute__((target("avx2,fma")))

// What is left of x beside the power of two goes through a polynomial.
AVX static __m256d exponential(__m256d x)
{
    __m128i k = _mm256_cvtpd_epi32(_mm256_mul_pd(x, _mm256_set1_pd(1.4426950408889634)));
    __m256d rest = _mm256_fnmadd_pd(_mm256_cvtepi32_pd(k), _mm256_set1_pd(0.6931471805599453), x), y = _mm256_set1_pd(1.0);
    for (int n = 12; n > 0; n--)
        y = _mm256_fmadd_pd(_mm256_div_pd(rest, _mm256_set1_pd(n)), y, _mm256_set1_pd(1.0));
    __m256i exponent = _mm256_slli_epi64(_mm256_add_epi64(_mm256_cvtepi32_epi64(k), _mm256_set1_epi64x(1023)), 52);
    return _mm256_mul_pd(y, _mm256_castsi256_pd(exponent));
}

AVX static double fractions(const double *x)
{
    __m256d a = _mm256_loadu_pd(x);
    __m256d fraction = _mm256_sub_pd(a, _mm256_cvtepi32_pd(_mm256_cvttpd_epi32(a)));
    __m128d half = _mm256_castpd256_pd128(a), nearest = _mm_cvtepi32_pd(_mm_cvtpd_epi32(half));
    half = _mm_mul_pd(half, _mm_sub_pd(half, nearest));
    double parts[4], last = x[3] - _mm_cvttsd_si32(_mm_set_sd(x[3]));
    _mm256_storeu_pd(parts, _mm256_mul_pd(fraction, a));
    return parts[0] - parts[1] + parts[2] * parts[3] + _mm_cvtsd_f64(half) + last * (x[2] - (double)_mm_cvtsd_si64(_mm_set_sd(x[2])));
}

AVX static double conversions(const double *x)
{
    double powers[SIZE];
    for (int i = 0; i < SIZE; i += 4)
        _mm256_storeu_pd(powers + i, exponential(_mm256_loadu_pd(x + i)));
    double sum = fractions(x) * fractions(x + 4);
    for (int i = 0; i < SIZE; i++)
        sum += powers[i] * x[SIZE - 1 - i];
    return sum;
}

static int has_avx(void)
{
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
}
#else
static double conversions(const double *x)
{
    return x[0] * x[1];
}

static int has_avx(void)
{
    return 1;
}
#endif

static double point[SIZE];

static void setup(void)
{
    // No integer, and no half of one, is within reach of the differences.
    static const double start[SIZE] = {0.7, -1.3, 2.75, 1.3, -0.7, 1.25, 3.3, 0.3};
    if (!has_avx()) {
        printf("RESULT numbers_conversions value=0 gradnorm=0 fd_err=0 dot_err=0\n"); // no AVX2
        exit(0);
    }
    corpus_copy(point, start, SIZE);
}

static double value(const double *x)
{
    return conversions(x);
}

static double tangent(const double *x, const double *v)
{
    return __enzyme_fwddiff((void *)conversions, enzyme_dup, x, v);
}

static void gradient(const double *x, double *g)
{
    corpus_zero(g, SIZE);
    __enzyme_autodiff((void *)conversions, enzyme_dup, x, g);
}

static const struct corpus_problem problem = {
    .name = "numbers_conversions",
    .size = SIZE,
    .point = point,
    .setup = setup,
    .value = value,
    .tangent = tangent,
    .gradient = gradient,
    .coordinates = CORPUS_ALL,
};

CORPUS_MAIN(&problem)
