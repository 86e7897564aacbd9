// Names beside numbers: positions of a portfolio with their labels, gathered by label in an ordered map, copied, grown and
// sorted, all within the differentiated function. A string keeps short content in itself and points to itself, so its
// characters and the numbers beside it are hard to tell apart.
//
// corpus: libc++ O1 O2
#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "corpus.hpp"

struct Position {
    std::string label;
    double amount;
};

static const char *const labels[] = {"eur", "usd", "gilt of the year two thousand and forty", "gbp"};

static double exposure(const double *x)
{
    std::vector<Position> positions;
    for (int i = 0; i < 8; i++)
        positions.push_back({labels[(3 * i + 1) % 4], x[i] * x[i] + 0.5 * x[(i + 3) % 8]});
    std::map<std::string, double> total;
    for (const Position &position : positions)
        total[position.label] += position.amount * positions.front().amount;
    double result = 0.0, rank = 1.0;
    for (const auto &[label, amount] : total) {
        result += rank * sqrt(1.0 + amount * amount) / (double)label.size();
        rank *= 0.75;
    }
    return result;
}

static double point[8] = {0.3, 0.9, 0.5, 0.2, 0.7, 0.4, 0.8, 0.6};
static const corpus_problem problem =
    CORPUS_OF_ARRAY("std_string_keys", exposure, 8, point, nullptr, .coordinates = CORPUS_ALL);

CORPUS_MAIN(&problem)
