// std::sort and std::stable_sort of active values, also by a comparison lambda on a struct: Gini coefficient and
// concordance.
#include <algorithm>
#include <vector>

#include "corpus.hpp"

static constexpr int COUNT = 24;

struct Household {
    double income, wealth;
    int size;
};

static double inequality(const double *x)
{
    std::vector<double> sorted(x, x + COUNT);
    std::sort(sorted.begin(), sorted.end());
    double weighted = 0.0, total = 0.0;
    for (int i = 0; i < COUNT; i++) {
        weighted += (2 * i - COUNT + 1) * sorted[(size_t)i];
        total += sorted[(size_t)i];
    }
    std::vector<Household> households;
    for (int i = 0; i < COUNT / 2; i++)
        households.push_back({x[i], x[COUNT - 1 - i], 1 + i % 4});
    std::stable_sort(households.begin(), households.end(), [](const Household &a, const Household &b) {
        return a.size != b.size ? a.size < b.size : a.income > b.income;
    });
    double rank = 0.0;
    for (size_t i = 0; i < households.size(); i++)
        rank += households[i].income * households[i].wealth / (1.0 + (double)i);
    return weighted / (COUNT * total) + 0.1 * rank;
}

static double point[COUNT];

static void setup()
{
    corpus_seed(23);
    corpus_fill(point, COUNT, 0.5, 4.0);
}

static const corpus_problem problem = CORPUS_OF_ARRAY("std_sort", inequality, COUNT, point, setup,
                                                      .step = 0x1p-12, // the order stays
                                                      .coordinates = CORPUS_ALL);

CORPUS_MAIN(&problem)
