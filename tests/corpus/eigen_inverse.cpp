// corpus: levels O0 O3
// Eigen, closed-form inverses and determinants of Matrix3d and Matrix4d (vectorised where the processor can), and
// blocks.
#include <Eigen/Core>
#include <Eigen/LU>

#include "corpus.hpp"

enum { SIZE = 12 };

static double trace_of_inverse(const double *x)
{
    Eigen::Matrix3d a;
    a << x[0], x[1], x[2], x[3], x[4], x[5], x[6], x[7], x[8];
    a += 2.0 * Eigen::Matrix3d::Identity();
    Eigen::Matrix4d b = Eigen::Matrix4d::Identity() * 1.5;
    b.topLeftCorner<3, 3>() += 0.1 * a;
    b.col(3).head<3>() = Eigen::Vector3d(x[9], x[10], x[11]);
    return a.inverse().trace() + b.inverse().cwiseAbs2().sum() + b.determinant();
}

static double point[SIZE];

static void setup()
{
    corpus_seed(59);
    corpus_fill(point, SIZE, -1.0, 1.0);
}

static const corpus_problem problem =
    CORPUS_OF_ARRAY("eigen_inverse", trace_of_inverse, SIZE, point, setup, .coordinates = CORPUS_ALL);

CORPUS_MAIN(&problem)
