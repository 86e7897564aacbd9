// corpus: levels O0 O2
// Boost.Math, gamma functions (double evaluated as double): log-likelihood of negative-binomial counts with dispersion
// and mean, and a beta prior: lgamma, tgamma, digamma and beta.
#define BOOST_MATH_PROMOTE_DOUBLE_POLICY false
#include <boost/math/special_functions/beta.hpp>
#include <boost/math/special_functions/digamma.hpp>
#include <boost/math/special_functions/gamma.hpp>

#include "corpus.hpp"

static double log_likelihood(const double *x)
{
    static const int counts[] = {2, 0, 5, 1, 3};
    const double size = exp(x[0]), mean = exp(x[1]);
    double sum = 0.0;
    for (int k : counts)
        sum += boost::math::lgamma(k + size) - boost::math::lgamma(size) + size * log(size / (size + mean)) +
               k * log(mean / (size + mean));
    return sum + log(boost::math::beta(x[2], x[3])) + 0.1 * boost::math::tgamma(x[2]) + boost::math::digamma(x[3]);
}

static double point[4] = {0.4, 0.9, 2.3, 1.6};
static const corpus_problem problem =
    CORPUS_OF_ARRAY("boostmath_gamma", log_likelihood, 4, point, nullptr, .coordinates = CORPUS_ALL);

CORPUS_MAIN(&problem)
