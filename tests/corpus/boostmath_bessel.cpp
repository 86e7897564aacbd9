// corpus: levels O0 O2
// Boost.Math, Bessel functions and polynomials: field in a step-index fibre, J0 in the core and K0 in the cladding, and
// a Legendre series of a surface.
#define BOOST_MATH_PROMOTE_DOUBLE_POLICY false
#include <boost/math/special_functions/bessel.hpp>
#include <boost/math/special_functions/legendre.hpp>

#include "corpus.hpp"

static double field(const double *x)
{
    const double u = x[0], w = x[1];
    double mismatch = u * boost::math::cyl_bessel_j(1, u) * boost::math::cyl_bessel_k(0, w) -
                      w * boost::math::cyl_bessel_k(1, w) * boost::math::cyl_bessel_j(0, u);
    double surface = 0.0;
    for (int l = 0; l < 5; l++)
        surface += x[2 + l] * boost::math::legendre_p(l, tanh(x[7]));
    return mismatch * mismatch + surface;
}

static double point[8] = {1.7, 1.9, 0.5, -0.3, 0.8, 0.2, -0.4, 0.35};
static const corpus_problem problem =
    CORPUS_OF_ARRAY("boostmath_bessel", field, 8, point, nullptr, .coordinates = CORPUS_ALL);

CORPUS_MAIN(&problem)
