// std::istringstream: the constants of a van der Waals gas are read from text inside the differentiated function;
// pressure work along an isotherm with respect to temperature, amounts and volumes.
//
// corpus: libc++ O0 O2
#include <sstream>
#include <string>

#include "corpus.hpp"

static double work(const double *x)
{
    std::istringstream table("a 0.1382 b 0.0319 R 0.08314 steps 20");
    std::string key;
    double a = 0.0, b = 0.0, r = 0.0;
    int steps = 1;
    while (table >> key) {
        if (key == "a")
            table >> a;
        else if (key == "b")
            table >> b;
        else if (key == "R")
            table >> r;
        else
            table >> steps;
    }
    double sum = 0.0, width = (x[2] - x[1]) / steps;
    for (int i = 0; i < steps; i++) {
        double volume = x[1] + (i + 0.5) * width;
        sum += width * (x[3] * r * x[0] / (volume - x[3] * b) - a * x[3] * x[3] / (volume * volume));
    }
    return sum;
}

static double point[4] = {310.0, 0.8, 2.4, 1.1};
static const corpus_problem problem =
    CORPUS_OF_ARRAY("std_istringstream", work, 4, point, nullptr, .coordinates = CORPUS_ALL);

CORPUS_MAIN(&problem)
