// Approximations that are linear between two powers of two, as the bits of a float are: a logarithm that is the bits as
// a number (as in P. Mineiro's fastapprox), an exponential and a power that are numbers taken as bits (N. Schraudolph,
// Neural Computation 11, 1999), sixteen-bit floats by rounding bits, a mantissa as a number. Beside them what has no
// derivative: a table by the first bits of the mantissa, random numbers by hashes of bits.
#include "corpus.h"

enum { N = 8 };

static uint64_t bits_of(double x) {
  uint64_t bits;
  memcpy(&bits, &x, sizeof bits);
  return bits;
}

static double of_bits(uint64_t bits) {
  double x;
  memcpy(&x, &bits, sizeof x);
  return x;
}

static double log2_by_bits(double x) {
  double mantissa = of_bits((bits_of(x) & 0x000fffffffffffff) | 0x3fe0000000000000);
  return (double)bits_of(x) * 0x1p-52 - 1021.774 - 1.498 * mantissa - 1.726 / (0.352 + mantissa);
}

static double exp_by_bits(double x) {
  return of_bits((uint64_t)(int64_t)(0x1p52 * (x * 1.4426950408889634 + 1022.94)));
}

// Rounded to the nearest before it is converted.
static double exp_by_rounded_bits(double x) {
  return of_bits((uint64_t)(int64_t)rint(0x1p52 * (x * 1.4426950408889634 + 1022.94)));
}

static double power_by_bits(double x, double y) {
  double difference = (double)(int64_t)(bits_of(x) - 0x3feec9c7df3b645a);
  return of_bits((uint64_t)((int64_t)(y * difference) + 0x3feec9c7df3b645a));
}

// The sum is checked.
static double power_or_one(double x, double y) {
  int64_t bits;
  double difference = (double)(int64_t)(bits_of(x) - 0x3feec9c7df3b645a);
  if (__builtin_add_overflow((int64_t)(y * difference), 0x3feec9c7df3b645a, &bits))
    return 1.0;
  return of_bits((uint64_t)bits);
}

static double half_of_the_digits(double x) { return of_bits(bits_of(x) & 0xfffffffffc000000); }

static double mantissa(double x) { return (double)(bits_of(x) & 0x000fffffffffffff) * 0x1p-52; }

static double from_table(double x) {
  static const double table[8] = {1.0, 0.9, 0.8, 0.7, 0.65, 0.6, 0.55, 0.5};
  uint64_t bits = bits_of(x);
  return table[bits >> 49 & 7] * (double)((int)(bits >> 52) - 1020);
}

static double at_random(double x) {
  uint64_t hash = bits_of(x);
  hash = (hash ^ hash >> 33) * 0xff51afd7ed558ccd;
  return (double)((hash ^ hash >> 33) >> 11) * 0x1p-53;
}

// Only the bits are read and written here.
__attribute__((noinline)) static double round_all(const double *x, double *rounded) {
  double exponents = 0.0;
  for (int i = 0; i < N; i++) {
    uint64_t bits;
    memcpy(&bits, &x[i], sizeof bits);
    exponents += (double)bits * 0x1p-52;
    bits = (bits + 0x2000000) & 0xfffffffffc000000;
    memcpy(&rounded[i], &bits, sizeof bits);
  }
  return exponents;
}

// `seeds` are constant.
static double sum_of_all(const double *x, const double *seeds) {
  double high = half_of_the_digits(x[5]), low = x[5] - high, rounded[N], rounding = 0.0;
  double logarithms = round_all(x, rounded);
  for (int i = 0; i < N; i++)
    rounding += rounded[i] * rounded[i] + 2.0 * rounded[i] * (x[i] - rounded[i]);
  return log2_by_bits(x[0]) * x[1] + exp_by_bits(x[1]) + exp_by_rounded_bits(x[1] - 0.1) + power_by_bits(x[2], 1.7) + power_by_bits(x[3], x[4]) + power_or_one(x[2], x[4]) +
         (high * high + 2.0 * high * low + low * low) * x[6] + mantissa(x[6]) * mantissa(-x[7]) +
         from_table(x[7]) * x[0] + at_random(seeds[0]) * x[1] + (x[2] > 0.0 ? exp_by_bits(-x[0]) : x[3]) +
         logarithms * logarithms * 1e-3 + rounding;
}

static double point[N];
static const double seeds[1] = {0.7};

static void setup(void) {
  // No power of two is within reach of the differences.
  static const double start[N] = {0.7, 1.31, 2.9, 1.3, 0.6, 5.7, 3.1, 1.37};
  corpus_copy(point, start, N);
}

static double value(const double *x) { return sum_of_all(x, seeds); }

static double tangent(const double *x, const double *v) {
  return __enzyme_fwddiff((void *)sum_of_all, enzyme_dup, x, v, enzyme_const, seeds);
}

static void gradient(const double *x, double *g) {
  corpus_zero(g, N);
  __enzyme_autodiff((void *)sum_of_all, enzyme_dup, x, g, enzyme_const, seeds);
}

static const struct corpus_problem problem = {
    .name = "bits_as_numbers",
    .size = N,
    .point = point,
    .setup = setup,
    .value = value,
    .tangent = tangent,
    .gradient = gradient,
    .coordinates = CORPUS_ALL,
};

CORPUS_MAIN(&problem)
