// Sparse Hessians and Jacobians through <enzyme/sparse>: pattern by one run, columns coloured, eight groups side by side.
//
//   an arrow (one variable meets all others), a band, a sum of both through std::vector and a lambda; the Jacobian of a discretised
//   boundary value problem, of more equations than unknowns, in double and in single precision; all against what dense derivatives
//   give; and the arrow and the band with 100,000 variables, in so many products that their number does not depend on the size
//
// loss = the function of the band and the arrow.
// Source: Gebremedhin, Manne, Pothen, "What Color Is Your Jacobian?", SIAM Review 47, 2005, sections 2 and 4, for the examples.
#include "corpus.h"

#define ENZYME_SPARSE_COLPACK
#include <enzyme/sparse>

#include <vector>

enum { N = CORPUS_SIZE(30, 6), LARGE = CORPUS_SIZE(100000, 50) };

using reals = std::vector<double>;

static double arrow(const reals &x) {
    double sum = 0.0;
    for (std::size_t i = 1; i < x.size(); i++)
        sum += sin(x[0]) * x[i] * x[i];
    return sum;
}

static double band(const reals &x) {
    double sum = 0.0;
    for (std::size_t i = 0; i + 2 < x.size(); i++)
        sum += x[i] * x[i + 1] * x[i + 1] + exp(0.1 * x[i] * x[i + 2]) + x[i];
    return sum;
}

template <typename T> static void boundary_value(const std::vector<T> &u, std::vector<T> &y) {
    const std::size_t n = u.size();
    for (std::size_t i = 0; i < n; i++) {
        T left = i > 0 ? u[i - 1] : T(0), right = i + 1 < n ? u[i + 1] : T(1);
        y[i] = left - 2 * u[i] + right - T(0.01) * u[i] * u[i] * u[i];
    }
    for (std::size_t i = n; i < y.size(); i++)
        y[i] = u[i - n] * u[n - 1];
}

static double loss(const double *x, int n) {
    reals v(x, x + n);
    return arrow(v) + band(v);
}

static double point[N];

static void setup() {
    corpus_seed(149);
    corpus_fill(point, N, -1.0, 1.0);
}

static double value(const double *x) { return loss(x, N); }

static double tangent(const double *x, const double *v) {
    return __enzyme_fwddiff<double>((void *)loss, &enzyme_dup, x, v, &enzyme_const, int(N));
}

static void gradient(const double *x, double *g) {
    corpus_zero(g, N);
    __enzyme_autodiff<void>((void *)loss, &enzyme_dup, x, g, &enzyme_const, int(N));
}

// The largest distance of a sparse matrix from a dense one by rows.
template <typename M, typename R> static double apart(const M &sparse, const R &dense) {
    double error = 0.0;
    std::vector<std::vector<double>> rest(dense.size());
    for (std::size_t i = 0; i < dense.size(); i++)
        rest[i].assign(dense[i].begin(), dense[i].end());
    sparse.for_each([&](std::size_t i, std::size_t j, double entry) { rest[i][j] -= entry; });
    for (const std::vector<double> &row : rest)
        for (double entry : row)
            error = fmax(error, fabs(entry));
    return error;
}

template <typename F> static int hessians(const char *name, F f, std::size_t entries, std::size_t colours) {
    reals x(point, point + N);
    enzyme::hessian_plan plan(f, x);
    int failed = corpus_check(name, "colours", plan.count() <= colours ? 0.0 : double(plan.count()), 0.0);
    failed += corpus_check(name, "entries", fabs(double(plan.pattern().columns.size()) - double(entries)), 0.0);
    // The same derivatives; sums of columns are of different order.
    return failed + corpus_check(name, "dense", apart(enzyme::sparse_hessian(f, x, plan), enzyme::hessian(f, x)), 1e-12);
}

template <typename T> static int jacobians(const char *name, double tolerance) {
    std::vector<T> u(point, point + N), y(N + 3), z(N + 3);
    auto f = [](const std::vector<T> &from, std::vector<T> &to) { boundary_value(from, to); };
    enzyme::jacobian_plan plan(f, u, y);
    auto sparse = enzyme::sparse_jacobian(f, u, y, plan);
    auto dense = enzyme::jacobian(f, u, z);
    int failed = corpus_check(name, "colours", plan.count() <= 6 ? 0.0 : double(plan.count()), 0.0);
    return failed + corpus_check(name, "dense", apart(sparse, dense), tolerance);
}

template <typename F> static int large(const char *name, F f, std::size_t most) {
    reals x(LARGE);
    for (std::size_t i = 0; i < x.size(); i++)
        x[i] = 0.3 + 0.001 * double(i % 100);
    enzyme::hessian_plan plan(f, x);
    auto h = enzyme::sparse_hessian(f, x, plan);
    reals v(LARGE), product(LARGE);
    for (std::size_t i = 0; i < v.size(); i++)
        v[i] = double(i % 7) - 3.0;
    h.for_each([&](std::size_t i, std::size_t j, double entry) { product[i] += entry * v[j]; });
    reals expected = enzyme::hessian_vector_product(f, x, v);
    double error = 0.0, scale = 1.0;
    for (std::size_t i = 0; i < v.size(); i++) {
        error = fmax(error, fabs(expected[i] - product[i]));
        scale = fmax(scale, fabs(expected[i]));
    }
    int failed = corpus_check(name, "colours", plan.count() <= most ? 0.0 : double(plan.count()), 0.0);
    // A row of the arrow sums up as many reals as there are variables.
    return failed + corpus_check(name, "product", error / scale, 1e-11);
}

static int extra() {
    int failed = hessians("arrow", arrow, 3 * N - 2, 2);
    failed += hessians("band", band, 5 * N - 8, 9);
    failed += hessians("both", [](const reals &x) { return arrow(x) + band(x); }, 3 * N - 2 + 4 * N - 12, 12);
    failed += hessians("linear", [](const reals &x) { return x[0] - x[1]; }, N, 1);
    failed += jacobians<double>("boundary value", 1e-13);
    failed += jacobians<float>("boundary value in single precision", 1e-5);
    failed += large("large arrow", arrow, 2);
    return failed + large("large band", band, 9);
}

static const corpus_problem problem = {
    .name = "sparse_derivatives",
    .size = N,
    .point = point,
    .setup = setup,
    .value = value,
    .tangent = tangent,
    .gradient = gradient,
    .extra = extra,
};

CORPUS_MAIN(&problem)
