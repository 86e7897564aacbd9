// corpus: levels O1 O2 O3
// Eigen, ColPivHouseholderQR of a fixed-size matrix: least squares with column pivoting.
#include <Eigen/Core>
#include <Eigen/QR>

#include "corpus.hpp"

enum { SIZE = 16 };

static double minimum_norm(const double *x)
{
    Eigen::Matrix<double, 4, 3> a = Eigen::Map<const Eigen::Matrix<double, 4, 3>>(x);
    Eigen::Vector4d b = Eigen::Map<const Eigen::Vector4d>(x + 12);
    Eigen::ColPivHouseholderQR<Eigen::Matrix<double, 4, 3>> qr(a);
    Eigen::Vector3d solution = qr.solve(b);
    return solution.squaredNorm() + 0.1 * std::abs(qr.matrixR()(2, 2));
}

static double point[SIZE];

static void setup()
{
    corpus_seed(67);
    corpus_fill(point, SIZE, -1.0, 1.0);
}

static const corpus_problem problem =
    CORPUS_OF_ARRAY("eigen_pivoted_qr", minimum_norm, SIZE, point, setup, .coordinates = CORPUS_ALL);

CORPUS_MAIN(&problem)
