// corpus: levels O0 O3
// Boost.Math, root finders: implied volatility by Newton-Raphson and an isotherm volume by bracketing (TOMS 748); the
// roots are then polished by one exact Newton step, through which the derivative is right whatever the iteration's end.
#define BOOST_MATH_PROMOTE_DOUBLE_POLICY false
#include <boost/math/tools/roots.hpp>
#include <boost/math/tools/toms748_solve.hpp>
#include <tuple>

#include "corpus.hpp"

static double volatility(double price, double spot)
{
    auto model = [=](double s) {
        double value = spot * erf(s * 0.35) - price;
        double slope = spot * 0.35 * 1.1283791670955126 * exp(-s * s * 0.1225);
        return std::make_tuple(value, slope);
    };
    std::uintmax_t iterations = 20;
    double root = boost::math::tools::newton_raphson_iterate(model, 0.3, 0.01, 4.0, 50, iterations);
    auto [value, slope] = model(root);
    return root - value / slope;
}

static double volume(double pressure, double temperature)
{
    auto excess = [=](double v) { return temperature / (v - 0.1) - 0.4 / (v * v) - pressure; };
    std::uintmax_t iterations = 60;
    auto bracket =
        boost::math::tools::toms748_solve(excess, 0.6, 20.0, boost::math::tools::eps_tolerance<double>(40), iterations);
    double v = 0.5 * (bracket.first + bracket.second);
    double slope = -temperature / ((v - 0.1) * (v - 0.1)) + 0.8 / (v * v * v);
    return v - excess(v) / slope;
}

static double implied(const double *x)
{
    double s = volatility(x[0], x[1]);
    return s * s + volume(x[2], x[3]);
}

static double point[4] = {0.31, 1.2, 0.5, 1.4};
static const corpus_problem problem =
    CORPUS_OF_ARRAY("boostmath_root", implied, 4, point, nullptr, .coordinates = CORPUS_ALL);

CORPUS_MAIN(&problem)
