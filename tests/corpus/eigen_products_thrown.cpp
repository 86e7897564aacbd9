// corpus: no sanitizer
// corpus: levels O2
// Products of Eigen in steps whose last throws: what the reverse sweep needs of the products before is freed on the way out, as bytes
// in use show. f(A) = |B_n|^2, B_{i+1} = A B_i + s_i B_i.
#include <Eigen/Core>
#include <malloc.h>

#include "corpus.hpp"

using Eigen::Index;
using Eigen::Map;
using Eigen::MatrixXd;

static constexpr Index SIDE = 12;
static constexpr int SIZE = SIDE * SIDE, STEPS = 5;
static double point[SIZE];
static int last = STEPS;

__attribute__((noinline)) static void check(int step) {
  if (step == last)
    throw step;
}

__attribute__((noinline)) static double steps(const double *x, int count) {
  Map<const MatrixXd> a(x, SIDE, SIDE);
  MatrixXd b = a * 0.5;
  for (int i = 0; i < count; i++) {
    MatrixXd next = a * b;
    next += (0.1 * (double)i) * b;
    b = next;
    check(i);
  }
  return b.squaredNorm();
}

static double stepped(const double *x) { return steps(x, STEPS); }

static void setup() {
  corpus_seed(313);
  corpus_fill(point, SIZE, -0.3, 0.3);
}

#ifndef CORPUS_NO_AD
static int further() {
  double g[SIZE];
  size_t before = 0, after = 0;
  int caught = 0;
  for (int round = 0; round < 40; round++) {
    // What the first rounds allocate for themselves stays. Small blocks that were freed count as in use. the C library keeps small blocks that were freed as in use.
    if (round == 20)
      before = mallinfo2().uordblks;
    last = 1 + round % (STEPS - 1);
    try {
      __enzyme_autodiff_void((void *)stepped, enzyme_dup, point, g);
    } catch (int step) {
      caught += step == last;
    }
  }
  after = mallinfo2().uordblks;
  last = STEPS;
  const double kept = after > before ? (double)(after - before) : 0.0;
  return corpus_check("eigen_products_thrown", "exceptions that arrive", fabs(caught - 40.0), 0.5) +
         corpus_check("eigen_products_thrown", "bytes that are left behind", kept, 8000.0);
}
#else
static int further() { return 0; }
#endif

static const corpus_problem problem =
    CORPUS_OF_ARRAY("eigen_products_thrown", stepped, SIZE, point, setup, .extra = further, .coordinates = 8);

CORPUS_MAIN(&problem)
