// What hand-written SSE code does to the bits of doubles: signs flipped, cleared and copied, lanes chosen by masks and
// moved as integers, and barriers and single instructions as inline assembly.
// corpus: native
#include "corpus.h"

#if defined(__x86_64__)
#include <emmintrin.h>

static double signs(const double *x)
{
    const __m128d minus = _mm_set1_pd(-0.0);
    __m128d sum = _mm_setzero_pd();
    for (int i = 0; i < 6; i += 2) {
        __m128d v = _mm_loadu_pd(x + i);
        __m128d one = _mm_xor_pd(v, _mm_set_pd(-0.0, 0.0));
        __m128d size = _mm_andnot_pd(minus, v);
        __m128d root = _mm_or_pd(_mm_and_pd(minus, v), _mm_sqrt_pd(size));
        __m128d below = _mm_cmplt_pd(v, _mm_set1_pd(0.25));
        __m128d chosen = _mm_or_pd(_mm_and_pd(below, _mm_mul_pd(v, v)), _mm_andnot_pd(below, one));
        __m128d turned = _mm_castsi128_pd(_mm_shuffle_epi32(_mm_castpd_si128(v), 0x4e));
        sum = _mm_add_pd(sum, _mm_mul_pd(_mm_add_pd(root, chosen), turned));
    }
    // Of a mask of which one lane is read the other is left undefined.
    __m128d first = _mm_and_pd(_mm_loadu_pd(x + 1), _mm_castsi128_pd(_mm_set1_epi64x(0x7fffffffffffffff)));
    return sum[0] + 2.0 * sum[1] + x[0] * _mm_cvtsd_f64(first);
}

static double assembly(const double *x)
{
    __m128d v = _mm_loadu_pd(x), w = _mm_loadu_pd(x + 2);
    __asm__("" : "+x"(v));
    __asm__("minpd %1, %0" : "+x"(w) : "x"(v));
    double s = x[4] * x[5];
    __asm__("" : "+rm"(s));
    return v[0] * w[0] + 3.0 * v[1] * w[1] + s * s;
}

static double sign_bits(const double *x)
{
    return signs(x) + assembly(x);
}
#else
static double sign_bits(const double *x)
{
    double sum = 0.0;
    for (int i = 0; i < 6; i++)
        sum += x[i] * fabs(x[i]);
    return sum;
}
#endif

enum { SIZE = 6 };
static double point[SIZE] = {0.8, -0.6, 0.1, 1.3, -0.9, 0.4};

static double tangent(const double *x, const double *v)
{
    return __enzyme_fwddiff((void *)sign_bits, enzyme_dup, x, v);
}

static void gradient(const double *x, double *g)
{
    corpus_zero(g, SIZE);
    __enzyme_autodiff((void *)sign_bits, enzyme_dup, x, g);
}

static const struct corpus_problem problem = {
    .name = "numbers_sign_bits",
    .size = SIZE,
    .point = point,
    .value = sign_bits,
    .tangent = tangent,
    .gradient = gradient,
    .coordinates = CORPUS_ALL,
    .step = 1.0 / 4096.0, // signs and choices have kinks
};

CORPUS_MAIN(&problem)
