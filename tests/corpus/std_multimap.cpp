// std::multimap with integer keys: contributions are gathered by bin, as in a histogram of weights, and a smooth score is
// made of the sums of each bin.
#include <map>

#include "corpus.hpp"

static constexpr int COUNT = 12;

static double score(const double *x)
{
    std::multimap<int, double> bins;
    for (int i = 0; i < COUNT; i++)
        bins.emplace((i * 7) % 4, x[i] * x[(i + 1) % COUNT]);
    double product = 1.0;
    for (int key = 0; key < 4; key++) {
        double sum = 0.0;
        auto [first, last] = bins.equal_range(key);
        for (auto it = first; it != last; ++it)
            sum += it->second;
        product *= 1.0 + sum * sum;
    }
    bins.erase(2);
    return log(product) + bins.begin()->second * std::prev(bins.end())->second;
}

static double point[COUNT];

static void setup()
{
    corpus_seed(163);
    corpus_fill(point, COUNT, -1.0, 1.0);
}

static const corpus_problem problem =
    CORPUS_OF_ARRAY("std_multimap", score, COUNT, point, setup, .coordinates = CORPUS_ALL);

CORPUS_MAIN(&problem)
