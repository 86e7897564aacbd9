// corpus: levels O0 O2
// corpus: fma O2
// Eigen, dynamic size: a two-layer perceptron on MatrixXd and VectorXd, which allocate; matrix products above the size
// at which Eigen turns to its blocked kernels, unaryExpr with a lambda, rowwise sums.
#include <Eigen/Core>

#include "corpus.hpp"

static constexpr int IN = 4, HIDDEN = 6, BATCH = 9, SIZE = IN * HIDDEN + HIDDEN + HIDDEN;
static double point[SIZE], inputs[IN * BATCH], targets[BATCH];

static double loss(const double *x)
{
    Eigen::MatrixXd weights = Eigen::Map<const Eigen::MatrixXd>(x, HIDDEN, IN);
    Eigen::VectorXd bias = Eigen::Map<const Eigen::VectorXd>(x + IN * HIDDEN, HIDDEN);
    Eigen::VectorXd output = Eigen::Map<const Eigen::VectorXd>(x + IN * HIDDEN + HIDDEN, HIDDEN);
    Eigen::MatrixXd data = Eigen::Map<const Eigen::MatrixXd>(inputs, IN, BATCH);
    Eigen::MatrixXd hidden = weights * data;
    hidden.colwise() += bias;
    hidden = hidden.unaryExpr([](double z) { return std::tanh(z); });
    Eigen::VectorXd error = hidden.transpose() * output - Eigen::Map<const Eigen::VectorXd>(targets, BATCH);
    return 0.5 * error.squaredNorm() / BATCH + 0.01 * weights.squaredNorm();
}

static void setup()
{
    corpus_seed(43);
    corpus_fill(point, SIZE, -0.8, 0.8);
    corpus_fill(inputs, IN * BATCH, -1.0, 1.0);
    corpus_fill(targets, BATCH, -1.0, 1.0);
}

static const corpus_problem problem = CORPUS_OF_ARRAY("eigen_dynamic", loss, SIZE, point, setup, .coordinates = 7);

CORPUS_MAIN(&problem)
