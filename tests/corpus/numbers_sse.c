// A dot product, a norm and minima with SSE and SSE2 intrinsics, with their instructions for minimum, maximum,
// comparison, shuffles and square roots.
// corpus: native
#include "corpus.h"

#if defined(__x86_64__)
#include <emmintrin.h>
#endif

enum { SIZE = CORPUS_SIZE(48, 8) };

#if defined(__x86_64__)
static double sum_of(__m128d v)
{
    return _mm_cvtsd_f64(_mm_add_sd(v, _mm_unpackhi_pd(v, v)));
}

static double sse_loss(const double *x, int n)
{
    __m128d dot = _mm_setzero_pd(), low = _mm_set1_pd(1e9), root = _mm_setzero_pd();
    for (int i = 0; i + 4 <= n; i += 4) {
        __m128d a = _mm_loadu_pd(x + i), b = _mm_loadu_pd(x + i + 2);
        __m128d swapped = _mm_shuffle_pd(b, b, 1);
        dot = _mm_add_pd(dot, _mm_mul_pd(a, swapped));
        low = _mm_min_pd(low, _mm_max_pd(a, b));
        root = _mm_add_pd(root, _mm_sqrt_pd(_mm_add_pd(_mm_mul_pd(a, a), _mm_mul_pd(b, b))));
        __m128d larger = _mm_cmpgt_pd(a, b);
        __m128d chosen = _mm_or_pd(_mm_and_pd(larger, a), _mm_andnot_pd(larger, _mm_mul_pd(b, b)));
        __m128d size = _mm_andnot_pd(_mm_set1_pd(-0.0), _mm_sub_pd(a, b));
        root = _mm_sub_pd(root, _mm_mul_pd(chosen, size));
    }
    return sum_of(dot) + 2.0 * sum_of(low) + sum_of(root);
}
#else
static double sse_loss(const double *x, int n)
{
    double sum = 0.0;
    for (int i = 0; i < n; i++)
        sum += x[i] * x[i];
    return sum;
}
#endif

static double point[SIZE];

static void setup(void)
{
    corpus_seed(7);
    corpus_fill(point, SIZE, 0.3, 0.9);
}

static double value(const double *x)
{
    return sse_loss(x, SIZE);
}

static double tangent(const double *x, const double *v)
{
    return __enzyme_fwddiff((void *)sse_loss, enzyme_dup, x, v, enzyme_const, SIZE);
}

static void gradient(const double *x, double *g)
{
    corpus_zero(g, SIZE);
    __enzyme_autodiff((void *)sse_loss, enzyme_dup, x, g, enzyme_const, SIZE);
}

static const struct corpus_problem problem = {
    .name = "numbers_sse",
    .size = SIZE,
    .point = point,
    .setup = setup,
    .value = value,
    .tangent = tangent,
    .gradient = gradient,
    .step = 1.0 / 4096.0, // minima and maxima have kinks
};

CORPUS_MAIN(&problem)
