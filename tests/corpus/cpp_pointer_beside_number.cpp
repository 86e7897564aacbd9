// Expressions of vectors that are kept as a number beside the addresses of what it is multiplied by, as libraries of matrices keep
// them. Where the number goes into each lane of a vector, LLVM reads it together with the address, as one vector of two floats.
#include <emmintrin.h>

#include "corpus.hpp"

enum { SIZE = 8 };

struct Scaled {
    double factor;
    const double *values;

    __m128d packet(int i) const { return _mm_mul_pd(_mm_set1_pd(factor), _mm_loadu_pd(values + i)); }
};

struct Difference {
    Scaled left;
    Scaled right;

    __m128d packet(int i) const { return _mm_sub_pd(left.packet(i), right.packet(i)); }
};

template <class Expression> __attribute__((noinline)) void assign(double *to, const Expression &from, int size)
{
    for (int i = 0; i < size; i += 2) _mm_storeu_pd(to + i, from.packet(i));
}

struct alignas(16) Reflector {
    double factor;
    const double *axis;
};

// x - factor * axis * (axis . x), with the reflector in memory that is aligned: both words are read at once.
__attribute__((noinline)) void reflect(double *x, const double &factor, const double *axis, int size)
{
    Reflector reflector;
    reflector.factor = factor;
    reflector.axis = axis;
    double along = 0.0;
    for (int i = 0; i < size; i++) along += x[i] * axis[i];
    const __m128d step = _mm_mul_pd(_mm_set1_pd(reflector.factor), _mm_loadu_pd(reflector.axis));
    const double *rest = reflector.axis + 2;
    _mm_storeu_pd(x, _mm_sub_pd(_mm_loadu_pd(x), _mm_mul_pd(step, _mm_set1_pd(along))));
    for (int i = 2; i < size; i++) x[i] -= reflector.factor * rest[i - 2] * along;
}

static double reflected(const double *x)
{
    double a[SIZE], b[SIZE];
    const Scaled left = {x[0], x}, right = {x[1] * x[2], x + SIZE};
    assign(a, left, SIZE);
    assign(b, Difference{left, right}, SIZE);
    reflect(a, x[3], b, SIZE);
    double sum = 0.0;
    for (int i = 0; i < SIZE; i++) sum += (1.0 + 0.1 * i) * a[i] * a[i] + b[i] * x[i];
    return sum;
}

static double point[2 * SIZE];

static void setup()
{
    corpus_seed(97);
    corpus_fill(point, 2 * SIZE, 0.2, 1.0);
}

static const corpus_problem problem = CORPUS_OF_ARRAY("cpp_pointer_beside_number", reflected, 2 * SIZE, point, setup,
                                                      .fd_tolerance = 1e-6, .coordinates = CORPUS_ALL);

CORPUS_MAIN(&problem)
