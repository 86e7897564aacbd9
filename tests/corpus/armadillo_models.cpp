// corpus: native
// corpus: levels O2
// corpus: no sanitizer
// Armadillo, over LAPACK: the likelihood of a Gaussian process (Cholesky), a ridge regression (a system whose condition number is
// asked for, with a solver for singular ones behind it), principal components (eigenvalues), and a truncated inverse (singular
// values).
// Source: Rasmussen, Williams, "Gaussian processes for machine learning", 2006, algorithm 2.1.
#define ARMA_DONT_USE_WRAPPER
#include <armadillo>

#include "corpus.hpp"

enum { ROWS = 6, COLUMNS = 3, SIZE = ROWS * COLUMNS + ROWS };

static double likelihood(const arma::mat &a, const arma::vec &y)
{
    arma::mat kernel(ROWS, ROWS);
    for (arma::uword i = 0; i < ROWS; i++)
        for (arma::uword j = 0; j < ROWS; j++)
            kernel(i, j) = std::exp(-0.5 * arma::accu(arma::square(a.row(i) - a.row(j)))) + (i == j ? 0.1 : 0.0);
    const arma::mat factor = arma::chol(kernel, "lower");
    const arma::vec alpha = arma::solve(arma::trimatu(factor.t()), arma::solve(arma::trimatl(factor), y));
    return 0.5 * arma::dot(y, alpha) + arma::accu(arma::log(factor.diag()));
}

static double ridge(const arma::mat &a, const arma::vec &y)
{
    const arma::mat normal = a.t() * a + 0.1 * arma::eye(COLUMNS, COLUMNS);
    const arma::vec weights = arma::solve(normal, a.t() * y);
    return arma::norm(y - a * weights) + arma::accu(arma::square(weights)) + arma::log_det(normal).real();
}

static double components(const arma::mat &a)
{
    arma::vec variances;
    arma::mat directions;
    arma::eig_sym(variances, directions, arma::cov(a));
    return variances(COLUMNS - 1) / arma::accu(variances) + arma::accu(arma::square(a * directions.col(COLUMNS - 1)));
}

static double truncated(const arma::mat &a, const arma::vec &y)
{
    arma::mat u, v;
    arma::vec s;
    arma::svd_econ(u, s, v, a);
    const arma::vec x = v.head_cols(2) * ((u.head_cols(2).t() * y) / s.head(2));
    return arma::dot(x, x) + arma::accu(arma::pinv(a));
}

static double modelled(const double *x)
{
    const arma::mat a(x, ROWS, COLUMNS);
    const arma::vec y(x + ROWS * COLUMNS, ROWS);
    return likelihood(a, y) + ridge(a, y) + components(a) + truncated(a, y);
}

static double point[SIZE];

static void setup()
{
    corpus_seed(83);
    corpus_fill(point, SIZE, -1.0, 1.0);
}

static const corpus_problem problem =
    CORPUS_OF_ARRAY("armadillo_models", modelled, SIZE, point, setup, .fd_tolerance = 1e-6, .coordinates = CORPUS_ALL);

CORPUS_MAIN(&problem)
