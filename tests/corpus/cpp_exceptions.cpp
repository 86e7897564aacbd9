// Exceptions inside the differentiated function: a line search whose trial point may leave the domain, which throws
// std::domain_error and is caught; the step is then halved.
//
// corpus: libc++ O0 O2
#include <stdexcept>
#include <vector>

#include "corpus.hpp"

static double barrier(const std::vector<double> &at)
{
    double sum = 0.0;
    for (double a : at) {
        if (a <= 0.0)
            throw std::domain_error("log of a negative number");
        sum += a - log(a);
    }
    return sum;
}

static double search(const double *x)
{
    double step = x[0];
    std::vector<double> at(x + 1, x + 4);
    for (int tries = 0; tries < 6; tries++) {
        try {
            std::vector<double> moved = at;
            for (double &m : moved)
                m -= step * (1.0 + m * m);
            return barrier(moved) + step * step;
        } catch (const std::domain_error &) {
            step *= 0.5;
        }
    }
    return 0.0;
}

static double point[4] = {1.3, 0.8, 1.1, 0.6};
static const corpus_problem problem =
    CORPUS_OF_ARRAY("cpp_exceptions", search, 4, point, nullptr, .step = 0x1p-10, .coordinates = CORPUS_ALL);

CORPUS_MAIN(&problem)
