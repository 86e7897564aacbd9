// corpus: levels O1 O2 O3
// Eigen, JacobiSVD of a Matrix3d with distinct singular values: nuclear norm, volume and a solution.
#include <Eigen/Core>
#include <Eigen/SVD>

#include "corpus.hpp"

enum { SIZE = 9 };

static double nuclear_norm(const double *x)
{
    Eigen::Matrix3d a = Eigen::Map<const Eigen::Matrix3d>(x);
    a.diagonal() += Eigen::Vector3d(1.0, 2.0, 3.0);
    Eigen::JacobiSVD<Eigen::Matrix3d> svd(a, Eigen::ComputeFullU | Eigen::ComputeFullV);
    Eigen::Vector3d s = svd.singularValues();
    Eigen::Vector3d b(1.0, -0.5, 0.25);
    return s.sum() + 0.5 * s.prod() + svd.solve(b).squaredNorm();
}

static double point[SIZE];

static void setup()
{
    corpus_seed(79);
    corpus_fill(point, SIZE, -1.0, 1.0);
}

static const corpus_problem problem =
    CORPUS_OF_ARRAY("eigen_svd", nuclear_norm, SIZE, point, setup, .fd_tolerance = 1e-6, .coordinates = CORPUS_ALL);

CORPUS_MAIN(&problem)
