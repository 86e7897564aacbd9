// Darcy flow with a conductivity for each cell, as C++ has it: a sparse matrix by rows whose vectors grow as it is
// assembled, conjugate gradients with vectors, and explicit steps of a nonlinear heat equation with the same matrix,
// where vectors are swapped. Of what is overwritten one number is kept for each row, not one for each entry of the
// matrix. The grid may have no cells: then all vectors are empty.
//
//   A from harmonic means 2 k_i k_j / (k_i + k_j) of neighbours, walls are held at zero; A x = 1; u <- u - dt (1 + u^2)
//   A u
//
// loss = sum of x + sum of squares of u. Active: the conductivities.
// Sources: Hestenes, Stiefel, "Methods of conjugate gradients for solving linear systems", J. Res. NBS 49, 1952;
// LeVeque, "Finite Difference Methods for Ordinary and Partial Differential Equations", SIAM 2007, section 2.15.
#include <utility>
#include <vector>

#include "corpus.hpp"

namespace {

constexpr int kSide = CORPUS_SIZE(5, 3), kCells = kSide * kSide, kSteps = CORPUS_SIZE(6, 3);

struct Matrix {
  std::vector<int> first{0}, column;
  std::vector<double> entry;

  int rows() const { return static_cast<int>(first.size()) - 1; }

  void times(const std::vector<double> &x, std::vector<double> &y) const {
    for (int i = 0; i < rows(); i++) {
      double sum = 0.0;
      for (int k = first[i]; k < first[i + 1]; k++)
        sum += entry[k] * x[column[k]];
      y[i] = sum;
    }
  }
};

Matrix assembled(const double *conductivity, int side) {
  Matrix out;
  for (int i = 0; i < side; i++)
    for (int j = 0; j < side; j++) {
      const double own = conductivity[i * side + j];
      double diagonal = 0.0;
      const auto add = [&](int a, int b) {
        if (a < 0 || b < 0 || a >= side || b >= side) {
          diagonal += own;
          return;
        }
        const double other = conductivity[a * side + b], mean = 2.0 * own * other / (own + other);
        diagonal += mean;
        out.column.push_back(a * side + b);
        out.entry.push_back(-mean);
      };
      add(i - 1, j);
      add(i, j - 1);
      add(i, j + 1);
      add(i + 1, j);
      out.column.push_back(i * side + j);
      out.entry.push_back(diagonal);
      out.first.push_back(static_cast<int>(out.column.size()));
    }
  return out;
}

double dot(const std::vector<double> &a, const std::vector<double> &b) {
  double sum = 0.0;
  for (size_t i = 0; i < a.size(); i++)
    sum += a[i] * b[i];
  return sum;
}

__attribute__((noinline)) double pressure(const double *conductivity, int side) {
  const Matrix a = assembled(conductivity, side);
  const size_t n = static_cast<size_t>(side) * static_cast<size_t>(side);
  std::vector<double> x(n, 0.0), r(n, 1.0), p(n, 1.0), q(n);
  double square = dot(r, r);
  for (int t = 0; t < kSteps; t++) {
    a.times(p, q);
    const double length = square / dot(p, q);
    for (size_t i = 0; i < n; i++) {
      x[i] += length * p[i];
      r[i] -= length * q[i];
    }
    const double next = dot(r, r), turn = next / square;
    square = next;
    for (size_t i = 0; i < n; i++)
      p[i] = r[i] + turn * p[i];
  }
  double sum = 0.0;
  for (double v : x)
    sum += v;
  return sum;
}

__attribute__((noinline)) double heat(const double *conductivity, int side) {
  const Matrix a = assembled(conductivity, side);
  std::vector<double> u(static_cast<size_t>(side * side)), next(u.size());
  for (size_t i = 0; i < u.size(); i++)
    u[i] = 1.0 / (1.0 + static_cast<double>(i));
  for (int t = 0; t < kSteps; t++) {
    for (int i = 0; i < a.rows(); i++) {
      double sum = 0.0;
      for (int k = a.first[i]; k < a.first[i + 1]; k++)
        sum += a.entry[k] * u[a.column[k]];
      next[i] = u[i] - 0.05 * (1.0 + u[i] * u[i]) * sum;
    }
    std::swap(u, next);
  }
  return dot(u, u);
}

double point[kCells];

void setup() {
  for (int i = 0; i < kCells; i++)
    point[i] = 1.0 + 0.5 * ((i * 7) % 11) / 11.0;
}

double value(const double *x) { return pressure(x, kSide) + heat(x, kSide) + heat(x, 0); }

double tangent(const double *x, const double *v) {
  return __enzyme_fwddiff<double>((void *)pressure, enzyme_dup, x, v, enzyme_const, kSide) +
         __enzyme_fwddiff<double>((void *)heat, enzyme_dup, x, v, enzyme_const, kSide) +
         __enzyme_fwddiff<double>((void *)heat, enzyme_dup, x, v, enzyme_const, 0);
}

void gradient(const double *x, double *g) {
  corpus_zero(g, kCells);
  __enzyme_autodiff<void>((void *)pressure, enzyme_dup, x, g, enzyme_const, kSide);
  __enzyme_autodiff<void>((void *)heat, enzyme_dup, x, g, enzyme_const, kSide);
  __enzyme_autodiff<void>((void *)heat, enzyme_dup, x, g, enzyme_const, 0);
}

const corpus_problem the_rows{.name = "rows_in_vectors",
                              .size = kCells,
                              .point = point,
                              .setup = setup,
                              .value = value,
                              .tangent = tangent,
                              .gradient = gradient};

} // namespace

CORPUS_MAIN(&the_rows)
