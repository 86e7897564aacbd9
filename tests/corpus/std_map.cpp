// std::map with floats as values and strings as keys: a species table of a reaction network. Rates of A + B -> C, C ->
// A + D by mass action, integrated by Euler steps; map nodes are allocated and looked up in the differentiated
// function.
#include <map>
#include <string>

#include "corpus.hpp"

static double yield(const double *x)
{
    std::map<std::string, double> amount = {{"A", x[0]}, {"B", x[1]}};
    amount["C"] = 0.0;
    amount.emplace("D", 0.01 * x[0]);
    for (int step = 0; step < 25; step++) {
        double forward = x[2] * amount["A"] * amount["B"];
        double backward = x[3] * amount.at("C");
        amount["A"] += 0.05 * (backward - forward);
        amount["B"] -= 0.05 * forward;
        amount["C"] += 0.05 * (forward - backward);
        amount["D"] += 0.05 * backward;
    }
    double total = 0.0;
    for (const auto &[name, value] : amount)
        total += name == "B" ? 0.5 * value * value : value * value;
    return total;
}

static double point[4] = {1.2, 0.9, 0.8, 0.3};
static const corpus_problem problem = CORPUS_OF_ARRAY("std_map", yield, 4, point, nullptr, .coordinates = CORPUS_ALL);

CORPUS_MAIN(&problem)
