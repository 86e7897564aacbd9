// Numbers beside texts, as programs have them that read a configuration: short names and such that std::string keeps on the heap, as keys
// and in structures, optional and variant values, in vectors that grow and are sorted by name; copied, moved, joined and compared.
//
// corpus: libc++ O1 O2 O3
// corpus: debug O0
// corpus: valgrind
#include <algorithm>
#include <array>
#include <cmath>
#include <deque>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "corpus.hpp"

static const std::array<const char *, 4> kNames = {"mass", "stiffness", "damping_of_the_whole_system", "gain"};

static double keyed(const double *x)
{
    std::map<std::string, double> values;
    for (int i = 0; i < 4; i++)
        values[kNames[i]] = x[i];
    double sum = 0.0;
    for (const auto &[name, value] : values)
        sum += (double)name.size() * std::sin(value);
    return sum + values.at("mass") * values["damping_of_the_whole_system"];
}

static double sorted(const double *x)
{
    std::vector<std::pair<std::string, double>> pairs;
    for (int i = 0; i < 4; i++)
        pairs.push_back({kNames[i], x[i]});
    std::sort(pairs.begin(), pairs.end(), [](const auto &a, const auto &b) { return a.first < b.first; });
    double sum = 0.0;
    for (std::size_t i = 0; i < pairs.size(); i++)
        sum += (double)(i + 1) * pairs[i].second * pairs[i].second;
    return sum;
}

struct Model {
    std::string name;
    std::vector<double> weights;
    std::optional<std::string> note;
    double operator()(double at) const
    {
        double sum = 0.0;
        for (double weight : weights)
            sum = sum * at + weight;
        return sum * (double)(note ? note->size() : 1);
    }
};

static Model model(const std::string &name, std::vector<double> weights)
{
    Model made;
    made.name = name;
    made.weights = std::move(weights);
    if (name.size() > 10)
        made.note = name + "!";
    return made;
}

static double registered(const double *x)
{
    std::map<std::string, Model> models;
    models.emplace("linear", model("linear", {x[0], x[1]}));
    models["quadratic with a long name"] = model("quadratic with a long name", {x[0], x[1], x[2]});
    const Model copy = models["linear"];
    double sum = copy(x[3]);
    for (const auto &[name, model] : models)
        sum += model(0.3);
    return sum;
}

using Value = std::variant<double, std::string, std::vector<double>>;

static double chosen(const double *x)
{
    std::map<std::string, Value> values;
    values["number"] = x[0];
    values["text"] = std::string("a text that is long enough to be on the heap");
    values["row"] = std::vector<double>{x[1], x[2]};
    double sum = 0.0;
    for (const auto &[name, value] : values) {
        if (const auto *number = std::get_if<double>(&value))
            sum += *number * *number;
        else if (const auto *row = std::get_if<std::vector<double>>(&value))
            for (double entry : *row)
                sum += entry * x[3];
        else
            sum += (double)std::get<std::string>(value).size() * x[0];
    }
    return sum;
}

static double grouped(const double *x)
{
    std::list<std::pair<std::string, double>> rows;
    for (int i = 0; i < 5; i++)
        rows.emplace_back("group " + std::to_string(i % 3), x[i % 4] * (i + 1));
    rows.sort([](const auto &a, const auto &b) { return a.second > b.second; });
    std::map<std::string, std::vector<double>> groups;
    for (const auto &[name, value] : rows)
        groups[name].push_back(value);
    double sum = 0.0;
    for (const auto &[name, values] : groups)
        for (std::size_t i = 0; i < values.size(); i++)
            sum += values[i] * values[i] / (double)(1 + i);
    return sum;
}

struct Particle {
    std::array<double, 2> at, velocity;
    std::string species;
};

static double moving(const double *x)
{
    std::deque<Particle> particles;
    for (int i = 0; i < 5; i++)
        particles.push_back({{x[0] * i, x[1]}, {x[2], 0.1 * i}, i % 2 ? "electron" : "ion"});
    for (int step = 0; step < 4; step++)
        for (Particle &p : particles)
            for (int k = 0; k < 2; k++) {
                p.at[k] += 0.1 * p.velocity[k];
                p.velocity[k] -= 0.1 * p.at[k] * (p.species == "ion" ? 1.0 : 2.0);
            }
    particles.pop_front();
    double energy = 0.0;
    for (const Particle &p : particles)
        energy += p.at[0] + p.velocity[0] * p.velocity[1];
    return energy;
}

static double named(const double *x)
{
    std::map<std::string, std::function<double(double)>> steps;
    const double a = x[0], b = x[1];
    steps["scale"] = [a](double v) { return a * v; };
    steps["shift"] = [b](double v) { return v + b; };
    steps["power"] = [a, b](double v) { return std::pow(v, a + b); };
    double value = x[2];
    for (const std::string step : {"scale", "shift", "power", "scale"})
        value = steps.at(step)(value);
    return value * x[3];
}

static double labels(const double *x)
{
    return keyed(x) + sorted(x) + registered(x) + chosen(x) + grouped(x) + moving(x) + named(x);
}

static double point[4] = {0.6, 0.8, 0.4, 0.7};
static const corpus_problem problem =
    CORPUS_OF_ARRAY("std_labels", labels, 4, point, nullptr, .step = 0x1p-9, .coordinates = CORPUS_ALL);

CORPUS_MAIN(&problem)
