// corpus: flags -fenable-matrix
//
// Matrices that are types of the language (clang's matrix_type): products, transpositions, loads and stores by columns,
// which are intrinsics until late in the pipeline. A Kalman filter's step of prediction and correction, repeated; the
// loss is the squared innovation over its variance. Active: the transition, the start and the measurements.
//
// Source: Kalman, "A New Approach to Linear Filtering and Prediction Problems" (1960).
#include "corpus.h"

typedef double square __attribute__((matrix_type(3, 3)));
typedef double column __attribute__((matrix_type(3, 1)));
typedef double row __attribute__((matrix_type(1, 3)));
typedef double single __attribute__((matrix_type(1, 1)));

enum { STEPS = CORPUS_SIZE(12, 3), N = 9 + 3 + STEPS };

__attribute__((noinline)) static square covariance_after(square transition, square before) {
  square after = transition * before * __builtin_matrix_transpose(transition);
  for (int i = 0; i < 3; i++)
    after[i][i] += 0.1 * (i + 1);
  return after;
}

static double filter(const double *x) {
  // The transition lies in memory by columns, with a stride.
  square transition = __builtin_matrix_column_major_load((double *)x, 3, 3, 3), covariance;
  column state = __builtin_matrix_column_major_load((double *)x + 9, 3, 1, 3);
  row sensor;
  double loss = 0.0, last[9];
  for (int i = 0; i < 3; i++) {
    sensor[0][i] = 1.0 - 0.3 * i;
    for (int j = 0; j < 3; j++)
      covariance[i][j] = i == j;
  }
  for (int t = 0; t < STEPS; t++) {
    state = transition * state;
    covariance = covariance_after(transition, covariance);
    single variance = sensor * covariance * __builtin_matrix_transpose(sensor), expected = sensor * state;
    double noise = variance[0][0] + 0.5, innovation = x[12 + t] - expected[0][0];
    column gain = covariance * __builtin_matrix_transpose(sensor) * (1.0 / noise);
    state = state + gain * innovation;
    covariance = covariance - gain * sensor * covariance;
    loss += innovation * innovation / noise + log(noise);
  }
  __builtin_matrix_column_major_store(covariance, last, 3);
  for (int i = 0; i < 9; i++)
    loss += 0.01 * (i + 1) * last[i];
  return loss;
}

static double point[N];

static void setup(void) {
  corpus_seed(68);
  corpus_fill(point, N, -0.5, 0.5);
  for (int i = 0; i < 3; i++)
    point[4 * i] += 0.6;
}

static double tangent(const double *x, const double *v) { return __enzyme_fwddiff((void *)filter, enzyme_dup, x, v); }

static void gradient(const double *x, double *g) {
  corpus_zero(g, N);
  __enzyme_autodiff((void *)filter, enzyme_dup, x, g);
}

static const struct corpus_problem problem = {
    .name = "matrix_types",
    .size = N,
    .point = point,
    .setup = setup,
    .value = filter,
    .tangent = tangent,
    .gradient = gradient,
    .coordinates = CORPUS_ALL,
};

CORPUS_MAIN(&problem)
