// Names beside numbers in C++17, where most of what std::string does stands in the library alone: labels that are put together,
// lengthened, cut and copied within the differentiated function, in structures, vectors and tables that copy them.
//
// corpus: flags -std=c++17
// corpus: levels O0 O1 Og O2 O3
#include <map>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "corpus.hpp"

struct Term {
    std::string name;
    double weight;
    std::string unit;
};

static std::string label(int i)
{
    std::string name = "term " + std::to_string(i);
    if (i % 2)
        name.insert(0, "odd ");
    name.push_back('!');
    return name;
}

static double expansion(const double *x)
{
    std::vector<Term> terms;
    for (int i = 0; i < 8; i++) {
        Term term{label(i), x[i] * x[i] + 0.5 * x[(i + 3) % 8], "m"};
        term.unit += i % 2 ? "/s" : " per second and kilogram of the fuel";
        terms.push_back(std::move(term));
    }
    std::map<std::string, double> by_unit;
    std::unordered_map<std::string, Term> by_name;
    for (const Term &term : terms) {
        by_unit[term.unit.substr(0, 4)] += term.weight * terms.front().weight;
        by_name[term.name] = term;
    }
    double sum = 0.0;
    for (const auto &[unit, weight] : by_unit)
        sum += sqrt(1.0 + weight * weight) / (double)unit.size();
    for (int i = 0; i < 8; i++) {
        const auto found = by_name.find(label(i));
        if (found == by_name.end())
            continue;
        const std::string beginning = found->second.name.substr(0, 3);
        sum += sin(found->second.weight) * (double)(found->second.name.size() + beginning.size());
    }
    try {
        sum += terms.back().name.compare(100, 2, "no such place");
    } catch (const std::out_of_range &) {
        sum += cos(terms.back().weight);
    }
    return sum;
}

static double point[8] = {0.3, 0.9, 0.5, 0.2, 0.7, 0.4, 0.8, 0.6};
static const corpus_problem problem =
    CORPUS_OF_ARRAY("std_strings_before_cpp20", expansion, 8, point, nullptr, .coordinates = CORPUS_ALL);

CORPUS_MAIN(&problem)
