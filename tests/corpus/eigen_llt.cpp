// corpus: no sanitizer
// corpus: levels O0 O2 O3
// corpus: fma O2
// Eigen, LLT: log marginal likelihood of a Gaussian process with a squared exponential kernel (Rasmussen and Williams
// 2006, (5.8)), with respect to its parameters and inputs.
#include <Eigen/Core>
#include <Eigen/Cholesky>

#include "corpus.hpp"

enum { N = 6, SIZE = 3 + N };

static double log_evidence(const double *x)
{
    Eigen::MatrixXd k(N, N);
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            double d = (x[3 + i] - x[3 + j]) / std::exp(x[1]);
            k(i, j) = std::exp(2.0 * x[0]) * std::exp(-0.5 * d * d);
        }
    k.diagonal().array() += 0.1 + std::exp(x[2]);
    Eigen::VectorXd y = Eigen::VectorXd::LinSpaced(N, -1.0, 2.0);
    Eigen::LLT<Eigen::MatrixXd> llt(k);
    Eigen::MatrixXd factor = llt.matrixL();
    return -0.5 * y.dot(llt.solve(y)) - factor.diagonal().array().log().sum();
}

static double point[SIZE];

static void setup()
{
    corpus_seed(71);
    corpus_fill(point, SIZE, -1.0, 1.0);
}

static const corpus_problem problem =
    CORPUS_OF_ARRAY("eigen_llt", log_evidence, SIZE, point, setup, .coordinates = CORPUS_ALL);

CORPUS_MAIN(&problem)
