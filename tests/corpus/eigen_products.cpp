// corpus: no sanitizer
// corpus: levels O0 O3
// Eigen products that are differentiated as products (core/llvm/bridge/products.c): operands in columns and in rows,
// transposed, blocks of others, with distances between their elements, of sizes 0 to 200, scaled by an active number;
// operands that are overwritten before the reverse sweep, that are the same matrix, or whose elements share memory;
// products with vectors; single precision.
// dA += alpha dC B^T, dB += alpha A^T dC (Giles, "Collected matrix derivative results", 2008).
#include <Eigen/Core>

#include "corpus.hpp"

using Eigen::Index;
using Eigen::Map;
using Eigen::MatrixXd;
using Eigen::OuterStride;
using Eigen::Stride;
using Eigen::VectorXd;
using RowMatrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

static constexpr int SIZE = 620;
static double point[SIZE], data[40000];

static double weighed(const MatrixXd &m) {
  double sum = 0.0;
  for (Index j = 0; j < m.cols(); j++)
    for (Index i = 0; i < m.rows(); i++)
      sum += m(i, j) * (1.0 + 0.1 * (double)((3 * i + 5 * j) % 7));
  return sum / (double)(m.size() + 1);
}

template <class Left, class Right, class Result> static double orders(const double *x, Index m, Index k, Index n) {
  Map<const Left> a(x, m, k);
  Map<const Right> b(x + 40, k, n);
  Result c = a * b;
  c.noalias() += 0.5 * a * b;
  c.noalias() -= x[3] * a * b;
  Result d = Result::Zero(k, n);
  d.noalias() += a.transpose() * c;
  Result e = Result::Zero(m, k);
  e.noalias() += c * b.transpose();
  return weighed(c) + weighed(d) + weighed(e);
}

static double storage_orders(const double *x) {
  double sum = 0.0;
  const Index sizes[4][3] = {{17, 23, 19}, {3, 21, 1}, {1, 20, 18}, {24, 1, 22}};
  for (const auto &[m, k, n] : sizes) {
    sum += orders<MatrixXd, MatrixXd, MatrixXd>(x, m, k, n) + orders<RowMatrix, MatrixXd, MatrixXd>(x, m, k, n);
    sum += orders<MatrixXd, RowMatrix, RowMatrix>(x, m, k, n);
  }
  return sum;
}

static double memory(const double *x) {
  Map<const MatrixXd> whole(x, 24, 25);
  double sum = 0.0;
  // Blocks, an outer stride, both strides.
  MatrixXd c = MatrixXd::Zero(24, 24);
  c.block(1, 2, 20, 18).noalias() += whole.block(3, 1, 20, 21) * whole.block(0, 4, 21, 18);
  c.block(0, 0, 20, 18).noalias() += whole.block(0, 0, 18, 20).transpose() * whole.topLeftCorner(18, 18);
  Map<const MatrixXd, 0, OuterStride<>> wide(x + 2, 13, 17, OuterStride<>(30));
  Map<const MatrixXd, 0, Stride<Eigen::Dynamic, Eigen::Dynamic>> far(x, 17, 12,
                                                                     Stride<Eigen::Dynamic, Eigen::Dynamic>(40, 2));
  sum += weighed(wide * far) + weighed(c);
  Map<MatrixXd, 0, Stride<Eigen::Dynamic, Eigen::Dynamic>> spread(c.data() + 1, 12, 8,
                                                                  Stride<Eigen::Dynamic, Eigen::Dynamic>(48, 2));
  spread.noalias() += whole.topLeftCorner(12, 19) * whole.bottomRightCorner(19, 8);
  sum += weighed(c);
  // Elements that share memory.
  Map<const MatrixXd, 0, OuterStride<>> windows(x, 26, 22, OuterStride<>(1));
  sum += weighed(windows * whole.topRows(22)) + weighed(whole.leftCols(22) * windows.transpose());
  // The same matrix twice; powers, of which each overwrites the last.
  sum += weighed(whole.transpose() * whole) + weighed(whole.leftCols(24) * whole.leftCols(24));
  MatrixXd power = 0.2 * whole.leftCols(24), next(24, 24);
  for (int step = 0; step < 3; step++) {
    next.noalias() = power * whole.leftCols(24);
    power = 0.1 * next * power.transpose();
  }
  // None at all.
  MatrixXd empty = whole.leftCols(0) * whole.topRows(0).leftCols(20);
  return sum + weighed(power) + weighed(empty) + weighed(whole.topRows(0) * whole.transpose());
}

static double vectors(const double *x) {
  Map<const MatrixXd> a(x, 24, 25);
  Map<const RowMatrix> r(x, 24, 25);
  VectorXd v = a.row(3).transpose(), y = a * v, z = VectorXd::Zero(25);
  y.noalias() += x[5] * a * a.row(2).transpose();
  y.noalias() += r * a.row(1).transpose();
  z.noalias() += a.transpose() * y;
  z.noalias() -= 0.25 * r.transpose() * a.col(4);
  MatrixXd rows = MatrixXd::Zero(5, 24);
  rows.row(2).noalias() += v.transpose() * a.transpose();
  rows.row(1).noalias() += (r * z).transpose();
  rows.noalias() += a.topRows(5) * a.transpose();
  for (int step = 0; step < 3; step++)
    z = 0.1 * (a.transpose() * (a * z));
  return weighed(y) + weighed(z) + weighed(rows);
}

// A matrix of rank one is scaled and multiplied by constant data.
static double large(const double *x) {
  double sum = 0.0;
  for (Index n : {64, 200}) {
    Map<const MatrixXd> constant(data, n, n);
    Map<const VectorXd> v(x, n), w(x + 200, n);
    MatrixXd a = v * w.transpose();
    MatrixXd c = constant * a;
    MatrixXd d = (c.array().tanh().matrix() * constant).eval();
    sum += weighed(d) + 0.01 * weighed(c * d.transpose());
  }
  return sum;
}

static double single(const double *x) {
  Eigen::MatrixXf a = Map<const MatrixXd>(x, 24, 25).cast<float>();
  Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor> b = 0.1f * a.transpose();
  Eigen::MatrixXf c = a * b;
  Eigen::VectorXf v = c * a.col(2) + b.transpose() * b.col(1);
  return weighed(c.cast<double>()) + v.cast<double>().sum();
}

static void setup() {
  corpus_seed(311);
  corpus_fill(point, SIZE, -1.0, 1.0);
  corpus_fill(data, 40000, -0.2, 0.2);
}

#define PROBLEM(f, ...) CORPUS_OF_ARRAY("eigen_products_" #f, f, SIZE, point, setup, __VA_ARGS__)

static const corpus_problem orders_problem = PROBLEM(storage_orders, .coordinates = 6);
static const corpus_problem memory_problem = PROBLEM(memory, .coordinates = 12);
static const corpus_problem vectors_problem = PROBLEM(vectors, .coordinates = 12);
static const corpus_problem large_problem = PROBLEM(large, .coordinates = 3);
static const corpus_problem single_problem =
    PROBLEM(single, .step = 0.25, .fd_tolerance = 1e-4, .dot_tolerance = 1e-5, .coordinates = 4);
CORPUS_MAIN(&orders_problem, &memory_problem, &vectors_problem, &large_problem, &single_problem)
