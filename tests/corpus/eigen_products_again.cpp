// corpus: no sanitizer
// corpus: levels O0 O3
// Products of Eigen that are differentiated by rule, in other ways: Hessians of a cubic form of matrices, several
// tangents and adjoints at once, a stronger zero, atomic sums. f(A) = w.((A A^T + a AA) A) + |(A A^T + a AA) A_1|^2.
#include <Eigen/Core>

#include "corpus.hpp"

using Eigen::Index;
using Eigen::Map;
using Eigen::MatrixXd;
using Eigen::VectorXd;

extern int enzyme_width;

static constexpr int SIZE = 81;
static double point[SIZE];

static double weighed(const MatrixXd &m) {
  double sum = 0.0;
  for (Index j = 0; j < m.cols(); j++)
    for (Index i = 0; i < m.rows(); i++)
      sum += m(i, j) * (1.0 + 0.1 * (double)((3 * i + 5 * j) % 7));
  return sum / (double)(m.size() + 1);
}

static double cubic(const double *x, Index n) {
  Map<const MatrixXd> a(x, n, n);
  MatrixXd square = a * a.transpose();
  square += x[1] * a * a;
  VectorXd v = square * a.col(1);
  return weighed(square * a) + v.squaredNorm();
}

static constexpr Index SIDE = 9;

static double small_cubic(const double *x) { return cubic(x, SIDE) + 0.1 * cubic(x, 3); }

CORPUS_UNUSED static void cubic_gradient(const double *x, double *g) {
  corpus_zero(g, SIZE);
  __enzyme_autodiff_void((void *)small_cubic, enzyme_dup, x, g);
}

static void setup() {
  corpus_seed(311);
  corpus_fill(point, SIZE, -1.0, 1.0);
}

#ifndef CORPUS_NO_AD
struct two {
  double first, second;
};

// Derivatives of derivatives are of code that was not optimised, at -O0: these are refused.
static int hessians() {
#ifdef __OPTIMIZE__
  constexpr int COUNT = SIZE;
  double worst = 0.0, turned = 0.0, scale = 0.0, unit[COUNT] = {0}, g[COUNT], forward[COUNT], reverse[COUNT],
         moved[COUNT];
  for (int j = 0; j < COUNT; j += 10) {
    double sides[2][COUNT];
    unit[j] = 1.0;
    corpus_zero(forward, COUNT);
    __enzyme_fwddiff_void((void *)cubic_gradient, enzyme_dup, point, unit, enzyme_dupnoneed, g, forward);
    corpus_zero(reverse, COUNT);
    __enzyme_autodiff_void((void *)cubic_gradient, enzyme_dup, point, reverse, enzyme_dupnoneed, g, unit);
    corpus_zero(unit, COUNT);
    unit[j] = 1.0;
    for (int side = 0; side < 2; side++) {
      corpus_copy(moved, point, COUNT);
      moved[j] += side ? -1e-5 : 1e-5;
      cubic_gradient(moved, sides[side]);
    }
    for (int i = 0; i < COUNT; i++) {
      scale = fmax(scale, fabs(forward[i]));
      worst = fmax(worst, fabs(forward[i] - (sides[0][i] - sides[1][i]) / 2e-5));
      turned = fmax(turned, fabs(forward[i] - reverse[i]));
    }
    unit[j] = 0.0;
  }
  int failed = corpus_check("eigen_products_again", "hessian, differences of gradients", worst / scale, 1e-7);
  return failed + corpus_check("eigen_products_again", "hessian, reverse over reverse", turned / scale, 1e-11);
#else
  return 0;
#endif
}

static int further() {
  constexpr int COUNT = SIZE;
  double unit[COUNT] = {0}, next[COUNT] = {0}, g[COUNT], first[COUNT] = {0}, second[COUNT] = {0};
  unit[3] = next[40] = 1.0;
  two pair = __enzyme_fwddiff<two>((void *)small_cubic, enzyme_width, 2, enzyme_dup, point, unit, next);
  cubic_gradient(point, g);
  double together = fabs(pair.first - g[3]) + fabs(pair.second - g[40]), apart = 0.0, scale = corpus_norm(g, COUNT);
  __enzyme_autodiff<void>((void *)small_cubic, enzyme_width, 2, enzyme_dup, point, first, second);
  for (int i = 0; i < COUNT; i++)
    apart = fmax(apart, fabs(first[i] - g[i]) + fabs(second[i] - g[i]));
  double zeros[COUNT] = {0}, atomic[COUNT] = {0};
  __enzyme_autodiff<void>((void *)small_cubic, enzyme_strong_zero, enzyme_dup, point, zeros);
  __enzyme_autodiff<void>((void *)small_cubic, enzyme_atomic_add, enzyme_dup, point, atomic);
  for (int i = 0; i < COUNT; i++)
    apart = fmax(apart, fabs(zeros[i] - g[i]) + fabs(atomic[i] - g[i]));
  int failed = corpus_check("eigen_products_again", "two tangents at once", together / scale, 1e-12);
  return failed + hessians() +
         corpus_check("eigen_products_again", "adjoints asked for in other ways", apart / scale, 1e-12);
}
#else
static int further() { return 0; }
#endif

static const corpus_problem problem =
    CORPUS_OF_ARRAY("eigen_products_again", small_cubic, SIZE, point, setup, .extra = further, .coordinates = 4);

CORPUS_MAIN(&problem)
