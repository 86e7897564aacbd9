// <algorithm> without comparisons: transform, for_each, generate, copy, reverse_copy, rotate, fill, swap_ranges: a
// filter bank.
//
// corpus: libc++ O0 O2
#include <algorithm>
#include <array>
#include <vector>

#include "corpus.hpp"

enum { COUNT = 12 };

static double energy(const double *x)
{
    std::vector<double> a(COUNT), b(COUNT);
    std::transform(x, x + COUNT, a.begin(), [](double v) { return v / sqrt(1.0 + v * v); });
    std::reverse_copy(a.begin(), a.end(), b.begin());
    std::transform(a.begin(), a.end(), b.begin(), b.begin(), [](double p, double q) { return p * q + 0.1 * p; });
    std::rotate(b.begin(), b.begin() + 5, b.end());
    double state = 0.5;
    std::generate(a.begin(), a.begin() + 4, [&state, x] { return state = cos(state) * x[0]; });
    std::swap_ranges(a.begin(), a.begin() + 3, b.begin() + 3);
    std::array<double, 3> tail;
    std::copy_n(b.end() - 3, 3, tail.begin());
    std::fill(b.end() - 3, b.end(), tail[1] * tail[2]);
    double sum = 0.0;
    std::for_each(a.begin(), a.end(), [&](double v) { sum += v * v; });
    for (size_t i = 0; i < b.size(); i++)
        sum += b[i] * a[b.size() - 1 - i] * (1.0 + tail[i % 3]);
    return sum;
}

static double point[COUNT];

static void setup()
{
    corpus_seed(17);
    corpus_fill(point, COUNT, -1.0, 1.5);
}

static const corpus_problem problem =
    CORPUS_OF_ARRAY("std_transform", energy, COUNT, point, setup, .coordinates = CORPUS_ALL);

CORPUS_MAIN(&problem)
