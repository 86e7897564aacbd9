// corpus: levels O0 O2
// Boost.Math, Gauss-Legendre and adaptive Gauss-Kronrod quadrature of lambdas: period of a large-amplitude pendulum and
// a line integral.
#define BOOST_MATH_PROMOTE_DOUBLE_POLICY false
#include <boost/math/quadrature/gauss.hpp>
#include <boost/math/quadrature/gauss_kronrod.hpp>

#include "corpus.hpp"

static double integrals(const double *x)
{
    using boost::math::quadrature::gauss;
    using boost::math::quadrature::gauss_kronrod;
    const double k = sin(0.5 * x[0]);
    double period = 4.0 * sqrt(x[1] / 9.81) *
                    gauss<double, 15>::integrate([=](double t) { return 1.0 / sqrt(1.0 - k * k * sin(t) * sin(t)); },
                                                 0.0, 1.5707963267948966);
    double line = gauss_kronrod<double, 15>::integrate(
        [x](double t) { return exp(-x[2] * t) * cos(x[3] * t) / (1.0 + t * t); }, 0.0, x[4], 3, 1e-9);
    return period * line + line;
}

static double point[5] = {1.1, 0.8, 0.6, 2.0, 2.5};
static const corpus_problem problem =
    CORPUS_OF_ARRAY("boostmath_quadrature", integrals, 5, point, nullptr, .coordinates = CORPUS_ALL);

CORPUS_MAIN(&problem)
