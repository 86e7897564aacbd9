// Hash tables whose values are more than a number: samples grouped by the names of sensors, particles in the cells of a grid by a
// key of two numbers, layers of a model by name, shared among them. All are made, grown and cleared within the differentiated function.
// A table of libstdc++ has its first bucket in itself, and its buckets lead to the head of the list in the table as to the nodes.
#include <array>
#include <memory>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "corpus.hpp"

struct Cell {
    int row, column;
    bool operator==(const Cell &other) const { return row == other.row && column == other.column; }
};

struct CellHash {
    size_t operator()(const Cell &cell) const { return (size_t)(31 * cell.row + cell.column); }
};

static double grid(const double *x)
{
    std::unordered_map<Cell, std::vector<std::pair<int, double>>, CellHash> cells;
    for (int i = 0; i < 8; i++)
        cells[{i % 2, i % 3}].emplace_back(i, x[i]);
    std::unordered_map<int, std::vector<double>> rows;
    for (const auto &[cell, particles] : cells)
        for (const auto &[index, mass] : particles)
            rows[cell.row].push_back(mass * (index + 1));
    double energy = 0.0;
    for (const auto &[row, masses] : rows)
        for (size_t i = 0; i < masses.size(); i++)
            for (size_t j = i; j < masses.size(); j++)
                energy += sqrt(1.0 + masses[i] * masses[j]) * (row + 1);
    rows.clear();
    rows[7] = {x[2], x[3]};
    for (const auto &[row, masses] : rows)
        energy += masses.front() * masses.back() * row;
    return energy;
}

struct Sensor {
    std::string name;
    double gain;
    std::vector<double> history;
};

static double sensors(const double *x)
{
    std::unordered_map<std::string, Sensor> all;
    std::unordered_set<std::string> seen;
    std::unordered_map<std::string, double *> gains;
    for (int i = 0; i < 8; i++) {
        std::string name = i % 3 ? "s" + std::to_string(i % 3) : std::string("the one on the roof of the northern building");
        Sensor &sensor = all.emplace(name, Sensor{name, x[i], {}}).first->second;
        sensor.history.push_back(x[i] * sensor.gain);
        seen.insert(name);
    }
    for (auto &[name, sensor] : all)
        gains[name] = &sensor.gain;
    *gains["s1"] *= *gains["s2"];
    double sum = 0.0;
    for (const std::string &name : seen) {
        const Sensor &sensor = all.at(name);
        for (double value : sensor.history)
            sum += sin(value * sensor.gain) * (double)sensor.name.size();
    }
    return sum;
}

static double layers(const double *x)
{
    using Weights = std::vector<double>;
    std::unordered_map<std::string, std::shared_ptr<Weights>> model;
    for (const char *name : {"encoder weights of the first layer", "decoder", "bias"})
        model[name] = std::make_shared<Weights>(x, x + 8);
    model["tied"] = model["decoder"];
    for (double &weight : *model["tied"])
        weight *= 1.5;
    std::unordered_map<int, std::array<double, 6>> blocks;
    double out = 0.0;
    for (int i = 0; i < 8; i++) {
        std::array<double, 6> &block = blocks[i % 2];
        for (int j = 0; j < 6; j++)
            block[(size_t)j] += x[i] * (j + 1);
        out += tanh((*model["decoder"])[(size_t)i] * (*model["encoder weights of the first layer"])[(size_t)(7 - i)] +
                    model["bias"]->at((size_t)i));
    }
    for (const auto &[key, block] : blocks)
        for (double value : block)
            out += cos(value) * (key + 1);
    return out;
}

static double point[8] = {0.3, 0.9, 0.5, 0.2, 0.7, 0.4, 0.8, 0.6};
static const corpus_problem grid_problem =
    CORPUS_OF_ARRAY("std_hash_tables_grid", grid, 8, point, nullptr, .coordinates = CORPUS_ALL);
static const corpus_problem sensors_problem =
    CORPUS_OF_ARRAY("std_hash_tables_sensors", sensors, 8, point, nullptr, .coordinates = CORPUS_ALL);
static const corpus_problem layers_problem =
    CORPUS_OF_ARRAY("std_hash_tables_layers", layers, 8, point, nullptr, .coordinates = CORPUS_ALL);

CORPUS_MAIN(&grid_problem, &sensors_problem, &layers_problem)
