// corpus: levels O2 O3
// corpus: no sanitizer
// Eigen, JacobiSVD of a tall matrix whose size is known when it runs, with thin factors: the logarithms of the singular values and a
// solution in the sense of least squares.
#include <Eigen/Core>
#include <Eigen/SVD>

#include "corpus.hpp"

enum { ROWS = 5, COLUMNS = 3, SIZE = ROWS * COLUMNS + ROWS };

static double fitted(const double *x)
{
    Eigen::MatrixXd a = Eigen::Map<const Eigen::MatrixXd>(x, ROWS, COLUMNS);
    const Eigen::VectorXd b = Eigen::Map<const Eigen::VectorXd>(x + ROWS * COLUMNS, ROWS);
    a.diagonal() += Eigen::Vector3d(1.0, 2.0, 3.0);
    const Eigen::JacobiSVD<Eigen::MatrixXd> svd(a, Eigen::ComputeThinU | Eigen::ComputeThinV);
    return svd.singularValues().array().log().sum() + svd.solve(b).squaredNorm();
}

static double point[SIZE];

static void setup()
{
    corpus_seed(79);
    corpus_fill(point, SIZE, -1.0, 1.0);
}

static const corpus_problem problem =
    CORPUS_OF_ARRAY("eigen_thin_svd", fitted, SIZE, point, setup, .fd_tolerance = 1e-6, .coordinates = CORPUS_ALL);

CORPUS_MAIN(&problem)
