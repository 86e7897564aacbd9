// corpus: levels O0 O3
// corpus: link O2
// Boost.Math, cubic B-spline and Akima interpolation of active samples on a heap-allocated spline object.
#include <math.h> // isnan of the global namespace, which Boost 1.74 uses

#include <boost/math/interpolators/makima.hpp>
#include <boost/math/interpolators/pchip.hpp>
#include <vector>

#include "corpus.hpp"

enum { KNOTS = 8 };

static double curve(const double *x)
{
    std::vector<double> at(KNOTS), values(x, x + KNOTS);
    for (int i = 0; i < KNOTS; i++)
        at[(size_t)i] = 0.5 * i + 0.02 * i * i;
    std::vector<double> at2 = at, values2 = values;
    boost::math::interpolators::makima<std::vector<double>> akima(std::move(at), std::move(values));
    boost::math::interpolators::pchip<std::vector<double>> monotone(std::move(at2), std::move(values2));
    double sum = 0.0;
    for (int i = 0; i < 12; i++) {
        double t = 0.1 + 0.31 * i;
        sum += akima(t) * akima(t) + 0.5 * monotone.prime(t) * sin(t) + monotone(x[KNOTS]);
    }
    return sum;
}

static double point[KNOTS + 1];

static void setup()
{
    corpus_seed(107);
    corpus_fill(point, KNOTS, -1.0, 1.0);
    point[KNOTS] = 1.37;
}

static const corpus_problem problem = CORPUS_OF_ARRAY("boostmath_interpolation", curve, KNOTS + 1, point, setup,
                                                      .step = 0x1p-10, .coordinates = CORPUS_ALL);

CORPUS_MAIN(&problem)
