// corpus: levels O0 O2
// Eigen objects by reference with their shadows: the log-density of a Gaussian, -1/2 (y - m)^T P (y - m) + 1/2 log det
// P with the precision P = L L^T from a lower triangular factor; MatrixXd and VectorXd arguments, triangularView.
#include <Eigen/Core>

#include "corpus.hpp"

static double log_density(const Eigen::MatrixXd &factor, const Eigen::VectorXd &mean)
{
    Eigen::VectorXd offset = Eigen::VectorXd::LinSpaced(mean.size(), -1.0, 1.0) - mean;
    Eigen::VectorXd scaled = factor.triangularView<Eigen::Lower>().transpose() * offset;
    return -0.5 * scaled.squaredNorm() + factor.diagonal().array().log().sum();
}

enum { N = 4, SIZE = N * N + N };
static double point[SIZE];

static void setup()
{
    corpus_seed(47);
    corpus_fill(point, SIZE, 0.4, 1.4);
}

struct Arguments {
    Eigen::MatrixXd factor;
    Eigen::VectorXd mean;

    explicit Arguments(const double *x)
        : factor(Eigen::Map<const Eigen::MatrixXd>(x, N, N)), mean(Eigen::Map<const Eigen::VectorXd>(x + N * N, N))
    {
    }
};

static double value(const double *x)
{
    Arguments a(x);
    return log_density(a.factor, a.mean);
}

static double tangent(const double *x, const double *v)
{
    Arguments a(x), moved(v);
    return __enzyme_fwddiff<double>((void *)log_density, enzyme_dup, &a.factor, &moved.factor, enzyme_dup, &a.mean,
                                    &moved.mean);
}

static void gradient(const double *x, double *g)
{
    Arguments a(x);
    Eigen::MatrixXd factor = Eigen::MatrixXd::Zero(N, N);
    Eigen::VectorXd mean = Eigen::VectorXd::Zero(N);
    __enzyme_autodiff<void>((void *)log_density, enzyme_dup, &a.factor, &factor, enzyme_dup, &a.mean, &mean);
    corpus_copy(g, factor.data(), N * N);
    corpus_copy(g + N * N, mean.data(), N);
}

static const corpus_problem problem = {.name = "eigen_shadow",
                                       .size = SIZE,
                                       .point = point,
                                       .setup = setup,
                                       .value = value,
                                       .tangent = tangent,
                                       .gradient = gradient,
                                       .coordinates = CORPUS_ALL};

CORPUS_MAIN(&problem)
