// corpus: levels O1 O2 O3 Og
// std::any and std::initializer_list: heterogeneous components of a circuit, told apart by any_cast; impedance at a frequency.
//
// corpus: libc++ O0 O2
#include <any>
#include <initializer_list>
#include <vector>

#include "corpus.hpp"

struct Resistor {
    double resistance;
};
struct Capacitor {
    double capacitance, leakage;
};

static double total(std::initializer_list<double> parts)
{
    double sum = 0.0;
    for (double part : parts)
        sum += part;
    return sum;
}

static double impedance(const double *x)
{
    std::vector<std::any> circuit;
    circuit.emplace_back(Resistor{x[0]});
    circuit.emplace_back(Capacitor{x[1], x[2]});
    circuit.emplace_back(x[3]);
    double real = 0.0, imaginary = 0.0;
    for (const std::any &part : circuit) {
        if (const auto *resistor = std::any_cast<Resistor>(&part)) {
            real += resistor->resistance;
        } else if (const auto *capacitor = std::any_cast<Capacitor>(&part)) {
            double w = x[4] * capacitor->capacitance, square = capacitor->leakage * capacitor->leakage + w * w;
            real += capacitor->leakage / square;
            imaginary -= w / square;
        } else {
            imaginary += x[4] * std::any_cast<double>(part);
        }
    }
    return sqrt(total({real * real, imaginary * imaginary, 1e-3 * x[0] * x[3]}));
}

static double point[5] = {1.5, 0.8, 0.3, 0.6, 1.9};
static const corpus_problem problem =
    CORPUS_OF_ARRAY("std_any", impedance, 5, point, nullptr, .coordinates = CORPUS_ALL);

CORPUS_MAIN(&problem)
