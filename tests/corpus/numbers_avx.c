// Kernels with AVX2 and FMA intrinsics: masked loads and stores for the rest of a loop, gathers, horizontal sums,
// blends, permutations, rounding; in double and float. Machines without AVX2 skip it.
// corpus: native
#include "corpus.h"

enum { N = 11, SIZE = N };

#if defined(__x86_64__)
#include <immintrin.h>
#define AVX __attribute__((target("avx2,fma")))

AVX static double avx_loss(const double *x, int n)
{
    double out[16] = {0.0};
    __m256d sum = _mm256_setzero_pd();
    for (int i = 0; i < n; i += 4) {
        __m256i lanes = _mm256_add_epi64(_mm256_set1_epi64x(i), _mm256_set_epi64x(3, 2, 1, 0));
        __m256i mask = _mm256_cmpgt_epi64(_mm256_set1_epi64x(n), lanes);
        __m256d a = _mm256_maskload_pd(x + i, mask);
        __m256d b = _mm256_fmadd_pd(a, a, _mm256_set1_pd(0.5));
        _mm256_maskstore_pd(out + i, mask, b);
        __m256d larger = _mm256_blendv_pd(a, _mm256_mul_pd(a, a), _mm256_cmp_pd(b, _mm256_set1_pd(0.9), _CMP_LT_OQ));
        sum = _mm256_add_pd(sum, _mm256_hadd_pd(b, larger));
    }
    __m128i index = _mm_set_epi32(9, 1, 7, 2);
    __m256d gathered = _mm256_i32gather_pd(out, index, 8);
    sum = _mm256_fmaddsub_pd(sum, gathered, _mm256_permute4x64_pd(gathered, 0x1b));
    sum = _mm256_add_pd(sum, _mm256_floor_pd(_mm256_mul_pd(sum, _mm256_set1_pd(0.01))));
    __m128 single = _mm256_cvtpd_ps(sum);
    single = _mm_mul_ps(_mm_dp_ps(single, single, 0xf1), _mm_addsub_ps(single, _mm_hadd_ps(single, single)));
    single = _mm_insert_ps(single, _mm_max_ss(single, _mm_set1_ps(0.25f)), 0x18);
    double parts[4];
    _mm256_storeu_pd(parts, sum);
    return parts[0] + 2.0 * parts[1] - parts[2] + 0.5 * parts[3] + 1e-3 * _mm_cvtss_f32(single);
}

static int has_avx(void)
{
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
}
#else
static double avx_loss(const double *x, int n)
{
    double sum = 0.0;
    for (int i = 0; i < n; i++)
        sum += x[i] * x[i];
    return sum;
}

static int has_avx(void)
{
    return 1;
}
#endif

static double point[SIZE];

static void setup(void)
{
    if (!has_avx()) {
        printf("RESULT numbers_avx value=0 gradnorm=0 fd_err=0 dot_err=0\n"); // no AVX2
        exit(0);
    }
    corpus_seed(7);
    corpus_fill(point, SIZE, 0.3, 0.9);
}

static double value(const double *x)
{
    return avx_loss(x, SIZE);
}

static double tangent(const double *x, const double *v)
{
    return __enzyme_fwddiff((void *)avx_loss, enzyme_dup, x, v, enzyme_const, SIZE);
}

static void gradient(const double *x, double *g)
{
    corpus_zero(g, SIZE);
    __enzyme_autodiff((void *)avx_loss, enzyme_dup, x, g, enzyme_const, SIZE);
}

static const struct corpus_problem problem = {
    .name = "numbers_avx",
    .size = SIZE,
    .point = point,
    .setup = setup,
    .value = value,
    .tangent = tangent,
    .gradient = gradient,
    .step = 1.0 / 16.0, // part of it is float
    .fd_tolerance = 1e-4,
    .dot_tolerance = 1e-6,
};

CORPUS_MAIN(&problem)
