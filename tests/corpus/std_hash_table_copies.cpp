// Copies of a hash table of vectors: the masses in the cells of a grid are kept before they change; the copy is changed, cleared and filled
// again.
#include <unordered_map>
#include <vector>

#include "corpus.hpp"

using Cells = std::unordered_map<int, std::vector<double>>;

__attribute__((noinline)) static double energy(const Cells &cells)
{
    double sum = 0.0;
    for (const auto &[cell, masses] : cells)
        for (double mass : masses)
            sum += sin(mass) * (cell + 1);
    return sum;
}

static double history(const double *x)
{
    Cells cells;
    for (int i = 0; i < 8; i++)
        cells[i % 3].push_back(x[i] * x[i]);
    Cells kept(cells);
    for (auto &[cell, masses] : cells)
        masses.back() *= x[cell];
    kept[1].push_back(x[0]);
    double sum = energy(kept);
    kept.clear();
    kept[2] = {x[2], x[3]};
    kept.reserve(50);
    kept.erase(7);
    return sum + energy(cells) * energy(kept);
}

static double point[8] = {0.3, 0.9, 0.5, 0.2, 0.7, 0.4, 0.8, 0.6};
static const corpus_problem problem =
    CORPUS_OF_ARRAY("std_hash_table_copies", history, 8, point, nullptr, .coordinates = CORPUS_ALL);

CORPUS_MAIN(&problem)
