// corpus: no sanitizer
// corpus: levels O0 O2 O3
// Eigen sparse: a conductance matrix assembled from triplets, one step of Jacobi-preconditioned conjugate gradients by
// hand, and the power that the currents feed into the resistor chain.
#include <Eigen/SparseCore>
#include <vector>

#include "corpus.hpp"

enum { NODES = 8, SIZE = NODES + 1 };

static double power(const double *x)
{
    std::vector<Eigen::Triplet<double>> entries;
    for (int i = 0; i < NODES; i++)
        entries.emplace_back(i, i, 0.5 + x[i] + x[i + 1]);
    for (int i = 0; i + 1 < NODES; i++) {
        entries.emplace_back(i, i + 1, -x[i + 1]);
        entries.emplace_back(i + 1, i, -x[i + 1]);
    }
    Eigen::SparseMatrix<double> conductance(NODES, NODES);
    conductance.setFromTriplets(entries.begin(), entries.end());
    Eigen::VectorXd current = Eigen::VectorXd::LinSpaced(NODES, 1.0, -0.5), voltage = Eigen::VectorXd::Zero(NODES);
    Eigen::VectorXd residual = current, direction = residual;
    double rho = residual.squaredNorm();
    for (int k = 0; k < 4; k++) {
        Eigen::VectorXd image = conductance * direction;
        double alpha = rho / direction.dot(image);
        voltage += alpha * direction;
        residual -= alpha * image;
        double next = residual.squaredNorm();
        direction = residual + (next / rho) * direction;
        rho = next;
    }
    return voltage.dot(current);
}

static double point[SIZE];

static void setup()
{
    corpus_seed(101);
    corpus_fill(point, SIZE, 0.5, 1.5);
}

static const corpus_problem problem =
    CORPUS_OF_ARRAY("eigen_sparse", power, SIZE, point, setup, .coordinates = CORPUS_ALL);

CORPUS_MAIN(&problem)
