// Atoms in a box of springs and pair potentials (Lennard-Jones within a cutoff), velocity Verlet, as C++ has it:
// coordinates are std::array in std::vector, in a structure that a function takes by reference. A step overwrites the
// state; what it overwrites is to be kept, not what each pair computes, though constructors may throw and vectors be
// empty. A second function reports a collision by an exception that its caller catches and goes on after.
//
// Source: Verlet, "Computer 'experiments' on classical fluids", Phys. Rev. 159, 1967; Swope et al., J. Chem. Phys. 76,
// 1982.
#include <array>
#include <stdexcept>
#include <vector>

#include "corpus.hpp"

using vec3 = std::array<double, 3>;

int steps = CORPUS_SIZE(12, 3);

namespace {

constexpr int kSide = CORPUS_SIZE(3, 2), kAtoms = kSide * kSide * kSide;
constexpr int kSize = 3 * kAtoms + 2;
double point[kSize];

struct atoms {
  std::vector<vec3> x, v, a;
  explicit atoms(int n) : x(n), v(n), a(n) {}
};

void forces(atoms &s, double eps, double sigma) {
  const int n = (int)s.x.size();
  for (auto &a : s.a)
    a = {0.0, 0.0, 0.0};
  for (int i = 0; i < n; i++)
    for (int j = i + 1; j < n; j++) {
      vec3 d;
      double r2 = 0.0;
      for (int k = 0; k < 3; k++) {
        d[k] = s.x[i][k] - s.x[j][k];
        r2 += d[k] * d[k];
      }
      if (r2 > 5.93)
        continue;
      double q = sigma * sigma / r2, q3 = q * q * q, force = 24.0 * eps * q3 * (2.0 * q3 - 1.0) / r2;
      for (int k = 0; k < 3; k++) {
        s.a[i][k] += force * d[k];
        s.a[j][k] -= force * d[k];
      }
    }
}

void step(atoms &s, double eps, double sigma, double dt) {
  for (size_t i = 0; i < s.x.size(); i++)
    for (int k = 0; k < 3; k++) {
      s.v[i][k] += 0.5 * dt * s.a[i][k];
      s.x[i][k] += dt * s.v[i][k];
    }
  forces(s, eps, sigma);
  for (size_t i = 0; i < s.x.size(); i++)
    for (int k = 0; k < 3; k++)
      s.v[i][k] += 0.5 * dt * s.a[i][k];
}

double kinetic(const atoms &s) {
  double energy = 0.0;
  for (const auto &v : s.v)
    for (double c : v)
      energy += 0.5 * c * c;
  return energy;
}

} // namespace

// x: eps, sigma, coordinates.
double moving(const double *x) {
  atoms s(kAtoms);
  for (int i = 0; i < kAtoms; i++)
    for (int k = 0; k < 3; k++)
      s.x[i][k] = x[2 + 3 * i + k];
  forces(s, x[0], x[1]);
  for (int n = 0; n < steps; n++)
    step(s, x[0], x[1], 0.003);
  return kinetic(s);
}

// Stops where the energy passes a limit, in the midst of the steps, and counts what has moved until then.
double stopped(const double *x) {
  atoms s(kAtoms);
  for (int i = 0; i < kAtoms; i++)
    for (int k = 0; k < 3; k++)
      s.x[i][k] = x[2 + 3 * i + k];
  forces(s, x[0], x[1]);
  double sum = 0.0;
  try {
    for (int n = 0; n < 2 * steps; n++) {
      step(s, x[0], x[1], 0.003);
      sum += kinetic(s) * s.x[(size_t)n % s.x.size()][0];
      if (n > 1 && sum > 0.01 * kAtoms)
        throw std::runtime_error("too hot");
    }
  } catch (const std::runtime_error &) {
    sum += s.x[1][1] * s.v[0][2];
  }
  return sum + kinetic(s);
}

namespace {

void setup() {
  corpus_seed(5);
  corpus_fill(point, kSize, -0.03, 0.03);
  point[0] = 1.1;
  point[1] = 0.95;
  for (int i = 0; i < kAtoms; i++) {
    int at[3] = {i / (kSide * kSide), i / kSide % kSide, i % kSide};
    for (int k = 0; k < 3; k++)
      point[2 + 3 * i + k] += 1.15 * at[k];
  }
}

double moving_tangent(const double *x, const double *v) {
  return __enzyme_fwddiff<double>((void *)moving, enzyme_dup, x, v);
}

void moving_gradient(const double *x, double *g) {
  corpus_zero(g, kSize);
  __enzyme_autodiff<void>((void *)moving, enzyme_dup, x, g);
}

double stopped_tangent(const double *x, const double *v) {
  return __enzyme_fwddiff<double>((void *)stopped, enzyme_dup, x, v);
}

void stopped_gradient(const double *x, double *g) {
  corpus_zero(g, kSize);
  __enzyme_autodiff<void>((void *)stopped, enzyme_dup, x, g);
}

const corpus_problem the_moving{.name = "moving",
                                .size = kSize,
                                .point = point,
                                .setup = setup,
                                .value = moving,
                                .tangent = moving_tangent,
                                .gradient = moving_gradient,
                                .coordinates = 6};
const corpus_problem the_stopped{.name = "stopped",
                                 .size = kSize,
                                 .point = point,
                                 .setup = setup,
                                 .value = stopped,
                                 .tangent = stopped_tangent,
                                 .gradient = stopped_gradient,
                                 .coordinates = 6};

} // namespace

CORPUS_MAIN(&the_moving, &the_stopped)
