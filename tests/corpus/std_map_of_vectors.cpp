// Measurements grouped by station: a std::map of std::vector that grows through operator[], walked, searched and counted
// through its iterators in both directions.
//
// corpus: libc++ O0 O2
#include <map>
#include <vector>

#include "corpus.hpp"

enum { SIZE = 7 };

static double grouped(const double *x)
{
    std::map<int, std::vector<double>> stations;
    for (int i = 0; i < 3 * SIZE; i++)
        stations[(5 * i + 2) % 4].push_back(x[i % SIZE] * (1.0 + 0.1 * i));
    double sum = 0.0, weight = 1.0;
    for (const auto &[station, values] : stations) {
        double mean = 0.0;
        for (double v : values)
            mean += v / static_cast<double>(values.size());
        for (double v : values)
            sum += (v - mean) * (v - mean) * (station + 1);
    }
    for (auto it = stations.rbegin(); it != stations.rend(); ++it, weight *= 1.5)
        sum += weight * it->second.front() * it->second.back();
    if (auto found = stations.find(3); found != stations.end())
        sum += sin(found->second[1]);
    return sum;
}

static double point[SIZE];

static void setup()
{
    corpus_seed(91);
    corpus_fill(point, SIZE, 0.4, 1.6);
}

static const corpus_problem problem =
    CORPUS_OF_ARRAY("std_map_of_vectors", grouped, SIZE, point, setup, .coordinates = CORPUS_ALL);

CORPUS_MAIN(&problem)
