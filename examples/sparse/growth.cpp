// How the time of sparse Hessians grows with the number of variables: an arrow, whose first variable meets all others, and a band of
// five diagonals.
//
//   clang++-22 -std=c++17 -O2 -Ibuild/include -fpass-plugin=build/lib/LLVMEnzyme-22.so examples/sparse/growth.cpp -lColPack -o growth
//   ./growth
#define ENZYME_SPARSE_COLPACK
#include <enzyme/sparse>

#include <chrono>
#include <cmath>
#include <cstdio>

using reals = std::vector<double>;

static double arrow(const reals &x) {
  double sum = 0.0;
  for (std::size_t i = 1; i < x.size(); i++)
    sum += std::sin(x[0]) * x[i] * x[i];
  return sum;
}

static double band(const reals &x) {
  double sum = 0.0;
  for (std::size_t i = 0; i + 2 < x.size(); i++)
    sum += x[i] * x[i + 1] * x[i + 1] + std::exp(0.1 * x[i] * x[i + 2]) + x[i];
  return sum;
}

static double milliseconds() {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

template <typename F> static void show(const char *name, F f, std::size_t n) {
  const reals x(n, 0.4);
  const double start = milliseconds();
  const enzyme::hessian_plan plan(f, x);
  const double planned = milliseconds();
  const auto h = enzyme::sparse_hessian(f, x, plan);
  const double done = milliseconds();
  std::printf("%-6s %8zu variables %9zu entries %2zu colours: plan %7.1f ms, values %6.1f ms\n", name, n, h.values.size(),
              plan.count(), planned - start, done - planned);
}

int main() {
  for (std::size_t n : {25000, 50000, 100000, 200000, 400000}) {
    show("arrow", arrow, n);
    show("band", band, n);
  }
}
