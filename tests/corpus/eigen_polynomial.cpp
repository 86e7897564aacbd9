// corpus: levels O0 O3
// corpus: debug O0
// Eigen, PolynomialSolver (companion matrix, Hessenberg form, real Schur form): moduli of the roots of a cubic polynomial and its
// greatest real root.
#include <Eigen/Core>
#include <unsupported/Eigen/Polynomials>

#include "corpus.hpp"

enum { SIZE = 4 };

static double roots(const double *x)
{
    Eigen::VectorXd coefficients(SIZE);
    coefficients << -2.0 - x[0], x[1], 0.5 * x[2], 1.0;
    Eigen::PolynomialSolver<double, Eigen::Dynamic> solver(coefficients);
    double sum = 0.0;
    for (int i = 0; i < SIZE - 1; i++) sum += 0.5 * std::norm(solver.roots()(i)) + solver.roots()(i).real();
    bool has_one = false;
    const double greatest = solver.greatestRealRoot(has_one);
    return has_one ? sum + greatest * x[3] : sum;
}

static double point[SIZE];

static void setup()
{
    corpus_seed(89);
    corpus_fill(point, SIZE, 0.2, 1.0);
}

static const corpus_problem problem =
    CORPUS_OF_ARRAY("eigen_polynomial", roots, SIZE, point, setup, .fd_tolerance = 1e-6, .coordinates = CORPUS_ALL);

CORPUS_MAIN(&problem)
