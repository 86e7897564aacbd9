// Eigen Array expressions: Black-Scholes prices of a strip of options, with exp, log, sqrt, erf-free cumulative normal
// by the logistic approximation, select and min/max.
#include <Eigen/Core>

#include "corpus.hpp"

enum { STRIKES = 10 };

static double portfolio(const double *x)
{
    const double spot = x[0], volatility = x[1], rate = x[2], maturity = x[3];
    using Strip = Eigen::Array<double, STRIKES, 1>;
    Strip strike = Strip::LinSpaced(80.0, 120.0);
    Strip d1 = ((spot / strike).log() + (rate + 0.5 * volatility * volatility) * maturity) /
               (volatility * std::sqrt(maturity));
    Strip d2 = d1 - volatility * std::sqrt(maturity);
    auto normal = [](const Strip &d) -> Strip { return 1.0 / (1.0 + (-1.5976 * d - 0.07056 * d * d * d).exp()); };
    Strip price = spot * normal(d1) - strike * std::exp(-rate * maturity) * normal(d2);
    Strip weight = (strike < 100.0).select(price.sqrt(), price.min(12.0) * x[4]);
    return weight.sum() + weight.maxCoeff();
}

static double point[5] = {101.0, 0.25, 0.03, 0.75, 0.6};
static const corpus_problem problem =
    CORPUS_OF_ARRAY("eigen_array", portfolio, 5, point, nullptr, .step = 0x1p-8, .coordinates = CORPUS_ALL);

CORPUS_MAIN(&problem)
