// std::nth_element, partial_sort, min_element, max_element, minmax, clamp and heaps: a trimmed mean, the median and the
// largest three of transformed samples.
//
// corpus: libc++ O0 O2
#include <algorithm>
#include <vector>

#include "corpus.hpp"

enum { COUNT = 17 };

static double robust(const double *x)
{
    std::vector<double> v(COUNT);
    for (size_t i = 0; i < COUNT; i++)
        v[i] = x[i] * x[i] + 0.5 * x[(i + 1) % COUNT];
    auto middle = v.begin() + COUNT / 2;
    std::nth_element(v.begin(), middle, v.end());
    double median = *middle, lower = *std::max_element(v.begin(), middle);
    std::partial_sort(v.begin(), v.begin() + 4, v.end());
    double smallest = v[0] * v[1] + v[2] * v[3];
    std::make_heap(v.begin(), v.end());
    double top = 0.0;
    for (int k = 1; k <= 3; k++) {
        std::pop_heap(v.begin(), v.end());
        top += v.back() / k;
        v.pop_back();
    }
    auto [low, high] = std::minmax(x[0], x[3]);
    return median * lower + smallest + top + std::clamp(x[5], 0.2, 0.9) * high - low * std::max({x[1], x[2], x[4]});
}

static double point[COUNT];

static void setup()
{
    corpus_seed(27);
    corpus_fill(point, COUNT, -1.0, 1.5);
}

static const corpus_problem problem = CORPUS_OF_ARRAY("std_nth_element", robust, COUNT, point, setup,
                                                      .step = 0x1p-12, // the order stays
                                                      .coordinates = CORPUS_ALL);

CORPUS_MAIN(&problem)
