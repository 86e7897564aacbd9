// corpus: no sanitizer
// corpus: levels O0 O2 O3
// corpus: fma O2
// corpus: debug O0
// Eigen, HouseholderQR: residual and norm of a linear least-squares fit.
#include <Eigen/Core>
#include <Eigen/QR>

#include "corpus.hpp"

enum { ROWS = 7, COLUMNS = 3, SIZE = ROWS * COLUMNS + ROWS };

static double residual(const double *x)
{
    Eigen::MatrixXd a(ROWS, COLUMNS);
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < COLUMNS; j++)
            a(i, j) = std::pow(0.3 * i - 0.5, j) + 0.2 * x[COLUMNS * i + j];
    Eigen::VectorXd b = Eigen::Map<const Eigen::VectorXd>(x + ROWS * COLUMNS, ROWS);
    Eigen::VectorXd fit = a.householderQr().solve(b);
    return (a * fit - b).squaredNorm() + 0.1 * fit.squaredNorm();
}

static double point[SIZE];

static void setup()
{
    corpus_seed(61);
    corpus_fill(point, SIZE, -1.0, 1.0);
}

static const corpus_problem problem = CORPUS_OF_ARRAY("eigen_qr", residual, SIZE, point, setup, .coordinates = 6);

CORPUS_MAIN(&problem)
