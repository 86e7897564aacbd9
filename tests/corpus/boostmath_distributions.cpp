// corpus: levels O0 O3
// Boost.Math distributions: cumulative probabilities and quantiles of normal, gamma and Student's t: a reliability
// problem.
#define BOOST_MATH_PROMOTE_DOUBLE_POLICY false
#include <boost/math/distributions/normal.hpp>
#include <boost/math/distributions/weibull.hpp>

#include "corpus.hpp"

static double risk(const double *x)
{
    boost::math::normal load(x[0], x[1]);
    boost::math::weibull strength(x[2], x[3]);
    double sum = 0.0;
    for (int i = 0; i < 6; i++) {
        double level = 0.5 + 0.4 * i;
        sum += pdf(load, level) * cdf(strength, level) * 0.4;
    }
    return log(sum) + 0.1 * quantile(strength, 0.3) + cdf(complement(load, x[4]));
}

static double point[5] = {1.4, 0.5, 2.2, 2.6, 1.8};
static const corpus_problem problem =
    CORPUS_OF_ARRAY("boostmath_distributions", risk, 5, point, nullptr, .coordinates = CORPUS_ALL);

CORPUS_MAIN(&problem)
