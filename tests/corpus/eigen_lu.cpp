// corpus: no sanitizer
// corpus: levels O0 O2 O3
// corpus: fma O2
// Eigen, PartialPivLU of a MatrixXd: |A^-1 b|^2 + log |det A|.
#include <Eigen/Core>
#include <Eigen/LU>

#include "corpus.hpp"

enum { N = 5, SIZE = N * N + N };

static double response(const double *x)
{
    Eigen::MatrixXd a = Eigen::Map<const Eigen::MatrixXd>(x, N, N);
    a.diagonal().array() += 2.5;
    Eigen::VectorXd b = Eigen::Map<const Eigen::VectorXd>(x + N * N, N);
    Eigen::PartialPivLU<Eigen::MatrixXd> lu(a);
    Eigen::VectorXd solution = lu.solve(b);
    return solution.squaredNorm() + std::log(std::abs(lu.determinant()));
}

static double point[SIZE];

static void setup()
{
    corpus_seed(53);
    corpus_fill(point, SIZE, -1.0, 1.0);
}

static const corpus_problem problem = CORPUS_OF_ARRAY("eigen_lu", response, SIZE, point, setup, .coordinates = 6);

CORPUS_MAIN(&problem)
