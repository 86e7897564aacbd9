// corpus: levels O0 O2
// Eigen, fixed size: energy of a rotated anisotropic spring, f(x) = 1/2 d^T R S R^T d with R = Rz(x0) Ry(x1), S =
// diag(exp x2..4), d = (x5..7) - c. Matrix3d products, transposition, diagonal and dot product.
#include <Eigen/Core>

#include "corpus.hpp"

static double energy(const double *x)
{
    const double cz = std::cos(x[0]), sz = std::sin(x[0]), cy = std::cos(x[1]), sy = std::sin(x[1]);
    Eigen::Matrix3d rz, ry;
    rz << cz, -sz, 0, sz, cz, 0, 0, 0, 1;
    ry << cy, 0, sy, 0, 1, 0, -sy, 0, cy;
    const Eigen::Matrix3d rotation = rz * ry;
    const Eigen::Vector3d stiffness(std::exp(x[2]), std::exp(x[3]), std::exp(x[4]));
    const Eigen::Vector3d offset = Eigen::Vector3d(x[5], x[6], x[7]) - Eigen::Vector3d(0.5, -0.25, 1.0);
    const Eigen::Matrix3d tensor = rotation * stiffness.asDiagonal() * rotation.transpose();
    return 0.5 * offset.dot(tensor * offset);
}

enum { SIZE = 8 };
static double point[SIZE];

static void setup()
{
    corpus_seed(3);
    corpus_fill(point, SIZE, -0.8, 0.9);
}

static const corpus_problem problem =
    CORPUS_OF_ARRAY("eigen_quadratic", energy, SIZE, point, setup, .coordinates = CORPUS_ALL);

CORPUS_MAIN(&problem)
