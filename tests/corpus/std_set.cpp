// std::set ordered by active keys: the area below the upper envelope of points, which are visited from left to right
// through a std::set<std::pair<double, double>>.
//
// corpus: libc++ O0 O2
#include <set>
#include <utility>

#include "corpus.hpp"

enum { COUNT = 8, SIZE = 2 * COUNT };

static double area(const double *x)
{
    std::set<std::pair<double, double>> points;
    for (int i = 0; i < COUNT; i++)
        points.insert({x[2 * i], x[2 * i + 1]});
    double sum = 0.0;
    auto before = points.begin();
    for (auto here = std::next(before); here != points.end(); ++here) {
        sum += 0.5 * (here->first - before->first) * (here->second + before->second);
        before = here;
    }
    auto middle = points.lower_bound({0.5, 0.0});
    return sum + 0.3 * middle->second * middle->first;
}

static double point[SIZE];

static void setup()
{
    corpus_seed(19);
    corpus_fill(point, SIZE, 0.0, 1.0);
}

static const corpus_problem problem = CORPUS_OF_ARRAY("std_set", area, SIZE, point, setup,
                                                      .step = 0x1p-10, // the order stays
                                                      .coordinates = CORPUS_ALL);

CORPUS_MAIN(&problem)
