// corpus: levels O0 O2
// Eigen, LDLT with pivoting of a Matrix4d: energy of a spring network under a load, and the log determinant of its
// stiffness.
#include <Eigen/Core>
#include <Eigen/Cholesky>

#include "corpus.hpp"

enum { SIZE = 18 };

static double energy(const double *x)
{
    Eigen::Matrix4d b = Eigen::Map<const Eigen::Matrix4d>(x);
    Eigen::Matrix4d stiffness = b * b.transpose() + 0.5 * Eigen::Matrix4d::Identity();
    Eigen::Vector4d force(x[16], x[17], 1.0, -0.5);
    Eigen::LDLT<Eigen::Matrix4d> ldlt(stiffness);
    return 0.5 * force.dot(ldlt.solve(force)) + 0.1 * ldlt.vectorD().array().log().sum();
}

static double point[SIZE];

static void setup()
{
    corpus_seed(73);
    corpus_fill(point, SIZE, -1.0, 1.0);
}

static const corpus_problem problem = CORPUS_OF_ARRAY("eigen_ldlt", energy, SIZE, point, setup, .coordinates = 7);

CORPUS_MAIN(&problem)
