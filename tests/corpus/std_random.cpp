// <random> with a fixed seed and <chrono> in an active function: a Monte Carlo estimate of an Asian option by the
// pathwise method; the random numbers are inactive, the path is not.
//
// corpus: libc++ O0 O2
#include <chrono>
#include <random>

#include "corpus.hpp"

static double seconds;

static double price(const double *x)
{
    auto start = std::chrono::steady_clock::now();
    std::mt19937 engine(12345);
    double sum = 0.0;
    for (int path = 0; path < 20; path++) {
        double spot = x[0], mean = 0.0;
        for (int step = 0; step < 8; step++) {
            // Irwin-Hall: a sum of uniforms is nearly normal.
            double normal = -6.0;
            for (int k = 0; k < 12; k++)
                normal += engine() * 0x1p-32;
            spot *= exp((x[2] - 0.5 * x[1] * x[1]) * 0.1 + x[1] * sqrt(0.1) * normal);
            mean += spot / 8.0;
        }
        sum += mean > 95.0 ? mean - 95.0 : 0.0;
    }
    seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return exp(-x[2] * 0.8) * sum / 20.0;
}

static double point[3] = {100.0, 0.2, 0.03};
static const corpus_problem problem = CORPUS_OF_ARRAY("std_random", price, 3, point, nullptr,
                                                      .step = 0x1p-14, // no path crosses the strike
                                                      .fd_tolerance = 1e-6, .coordinates = CORPUS_ALL);

CORPUS_MAIN(&problem)
