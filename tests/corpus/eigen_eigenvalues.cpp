// corpus: levels O0 O3
// Eigen, SelfAdjointEigenSolver (tridiagonalisation and implicit QR): condition number and a component of an
// eigenvector.
#include <Eigen/Core>
#include <Eigen/Eigenvalues>

#include "corpus.hpp"

enum { SIZE = 9 };

static double spectrum(const double *x)
{
    Eigen::Matrix3d a = Eigen::Map<const Eigen::Matrix3d>(x);
    Eigen::Matrix3d symmetric = a + a.transpose();
    symmetric.diagonal() += Eigen::Vector3d(1.0, 3.0, 6.0);
    Eigen::SelfAdjointEigenSolver<Eigen::Matrix3d> solver(symmetric);
    Eigen::Vector3d values = solver.eigenvalues();
    return values(2) / values(0) + std::log(values(1)) + std::pow(solver.eigenvectors()(0, 2), 2);
}

static double point[SIZE];

static void setup()
{
    corpus_seed(83);
    corpus_fill(point, SIZE, -1.0, 1.0);
}

static const corpus_problem problem =
    CORPUS_OF_ARRAY("eigen_eigenvalues", spectrum, SIZE, point, setup, .fd_tolerance = 1e-6, .coordinates = CORPUS_ALL);

CORPUS_MAIN(&problem)
