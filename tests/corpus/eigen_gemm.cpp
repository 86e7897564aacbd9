// corpus: no sanitizer
// corpus: levels O0 O2 O3
// Eigen products of matrices that are large enough for the blocked kernels (packing, register tiles, broadcasts by shuffles
// of integers), for a triangular product and a rank update: variance of a linear projection, tr(W C W^T) and its relatives.
#include <Eigen/Core>

#include "corpus.hpp"

static constexpr int N = 11, M = 9, SIZE = N * M;
static double point[SIZE], sample[N * N];

static double variance(const double *x)
{
    Eigen::MatrixXd projection = Eigen::Map<const Eigen::MatrixXd>(x, M, N);
    Eigen::MatrixXd data = Eigen::Map<const Eigen::MatrixXd>(sample, N, N);
    Eigen::MatrixXd covariance = data * data.transpose();
    Eigen::MatrixXd projected = projection * covariance * projection.transpose();
    Eigen::MatrixXd gram = Eigen::MatrixXd::Zero(M, M);
    gram.selfadjointView<Eigen::Lower>().rankUpdate(projection);
    Eigen::MatrixXd lower = gram.triangularView<Eigen::Lower>() * projected;
    return projected.trace() / N + 0.01 * lower.sum() + projected(1, 2) * gram(3, 2);
}

static void setup()
{
    corpus_seed(167);
    corpus_fill(point, SIZE, -1.0, 1.0);
    corpus_fill(sample, (size_t)(N * N), -0.5, 0.5);
}

static const corpus_problem problem = CORPUS_OF_ARRAY("eigen_gemm", variance, SIZE, point, setup, .coordinates = 9);

CORPUS_MAIN(&problem)
