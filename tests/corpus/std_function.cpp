// std::function held in a std::vector: a pipeline of layers chosen at run time, lambdas that capture active values by
// value.
#include <functional>
#include <vector>

#include "corpus.hpp"

static double pipeline(const double *x)
{
    std::vector<std::function<double(double)>> layers;
    layers.push_back([a = x[0], b = x[1]](double t) { return a * t + b; });
    layers.push_back([](double t) { return tanh(t); });
    layers.push_back([c = x[2]](double t) { return t * t + c * t; });
    layers.push_back([p = x](double t) { return exp(p[3] * t); });
    double sum = 0.0;
    for (int i = 0; i < 5; i++) {
        double t = 0.3 * i - 0.4;
        for (const auto &layer : layers)
            t = layer(t);
        sum += t;
    }
    return sum;
}

static double point[4] = {0.8, 0.1, 0.5, -0.6};
static const corpus_problem problem =
    CORPUS_OF_ARRAY("std_function", pipeline, 4, point, nullptr, .coordinates = CORPUS_ALL);

CORPUS_MAIN(&problem)
