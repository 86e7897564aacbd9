// <numeric>: accumulate, inner_product, partial_sum, adjacent_difference, transform_reduce and iota: statistics of a
// price series, its Sharpe ratio and its drawdown.
//
// corpus: libc++ O0 O2
#include <cmath>
#include <numeric>
#include <vector>

#include "corpus.hpp"

enum { DAYS = 15 };

static double score(const double *x)
{
    std::vector<double> returns(x, x + DAYS), wealth(DAYS), changes(DAYS);
    double mean = std::accumulate(returns.begin(), returns.end(), 0.0) / returns.size();
    double square = std::inner_product(returns.begin(), returns.end(), returns.begin(), 0.0) / returns.size();
    std::partial_sum(returns.begin(), returns.end(), wealth.begin());
    std::adjacent_difference(wealth.begin(), wealth.end(), changes.begin(), [](double a, double b) { return a * b; });
    double entropy = std::transform_reduce(wealth.begin(), wealth.end(), 0.0, std::plus<>(),
                                           [](double w) { return w * std::log(1.0 + w * w); });
    std::vector<int> days(DAYS);
    std::iota(days.begin(), days.end(), 1);
    double trend = std::inner_product(days.begin(), days.end(), wealth.begin(), 0.0);
    double product =
        std::accumulate(returns.begin(), returns.end(), 1.0, [](double a, double r) { return a * (1.0 + r); });
    return mean / std::sqrt(square - mean * mean) + 0.1 * entropy + 0.01 * trend * changes.back() + product;
}

static double point[DAYS];

static void setup()
{
    corpus_seed(13);
    corpus_fill(point, DAYS, -0.2, 0.3);
}

static const corpus_problem problem =
    CORPUS_OF_ARRAY("std_numeric", score, DAYS, point, setup, .coordinates = CORPUS_ALL);

CORPUS_MAIN(&problem)
