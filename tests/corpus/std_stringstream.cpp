// std::ostringstream and std::cerr-like logging in an active function: a gradient descent of x^4 - a x^2 + b x that
// reports its progress into a stream; only the text depends on the logging.
//
// corpus: libc++ O0 O2
#include <sstream>
#include <string>

#include "corpus.hpp"

static size_t logged;

static double minimum(const double *x)
{
    std::ostringstream log;
    log.precision(4);
    double at = x[2];
    for (int step = 0; step < 40; step++) {
        double slope = 4.0 * at * at * at - 2.0 * x[0] * at + x[1];
        at -= 0.05 * slope;
        if (step % 10 == 0)
            log << "step " << step << ": x = " << at << ", slope = " << slope << '\n';
    }
    std::string text = log.str();
    logged += text.size();
    return at * at * at * at - x[0] * at * at + x[1] * at;
}

static double point[3] = {1.3, 0.2, 0.9};
static const corpus_problem problem =
    CORPUS_OF_ARRAY("std_stringstream", minimum, 3, point, nullptr, .coordinates = CORPUS_ALL);

CORPUS_MAIN(&problem)
