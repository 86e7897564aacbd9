// Lanes of vectors of doubles, rearranged as integers are (`_mm_shuffle_epi32`) and written to memory: no double is seen on the way.
#include <emmintrin.h>

#include "corpus.hpp"

enum { SIZE = 8 };

// Each number twice.
__attribute__((noinline)) void spread(const double *x, double *y)
{
    const __m128i both = _mm_castpd_si128(_mm_loadu_pd(x));
    _mm_storeu_pd(y, _mm_castsi128_pd(_mm_shuffle_epi32(both, 0x44)));
    _mm_storeu_pd(y + 2, _mm_castsi128_pd(_mm_shuffle_epi32(both, 0xee)));
}

// Two numbers change places, as words that need not be doubles.
__attribute__((noinline)) void swap(const __m128i *x, __m128i *y) { _mm_storeu_si128(y, _mm_shuffle_epi32(_mm_loadu_si128(x), 0x4e)); }

// One number of each of two vectors.
__attribute__((noinline)) void mix(const double *x, double *y)
{
    const __m128i low = _mm_castpd_si128(_mm_loadu_pd(x)), high = _mm_castpd_si128(_mm_loadu_pd(x + 2));
    _mm_storeu_pd(y, _mm_castsi128_pd(_mm_unpackhi_epi64(low, high)));
}

static double rearranged(const double *x)
{
    double twice[2 * SIZE], squares[SIZE], swapped[SIZE], cubes[SIZE], mixed[SIZE] = {0};
    for (int i = 0; i < SIZE; i++) {
        squares[i] = x[i] * x[i];
        cubes[i] = squares[i] * x[i];
    }
    for (int i = 0; i < SIZE; i += 2) {
        spread(x + i, twice + 2 * i);
        swap(reinterpret_cast<const __m128i *>(squares + i), reinterpret_cast<__m128i *>(swapped + i));
    }
    for (int i = 0; i + 4 <= SIZE; i += 4) mix(cubes + i, mixed + i);
    double sum = 0.0;
    for (int i = 0; i < SIZE; i++) sum += twice[2 * i] * twice[2 * i] * (i + 1) + twice[2 * i + 1] * swapped[i] + mixed[i] * x[i];
    return sum;
}

static double point[SIZE];

static void setup()
{
    corpus_seed(103);
    corpus_fill(point, SIZE, 0.2, 1.0);
}

static const corpus_problem problem =
    CORPUS_OF_ARRAY("cpp_words_rearranged", rearranged, SIZE, point, setup, .fd_tolerance = 1e-6, .coordinates = CORPUS_ALL);

CORPUS_MAIN(&problem)
