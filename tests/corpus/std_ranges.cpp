// Ranges and views: transform, filter, take, drop, reverse, iota and zip by hand: a weighted power sum over the
// positive entries and a convolution with itself.
//
// corpus: libc++ O0 O2
#include <algorithm>
#include <ranges>
#include <vector>

#include "corpus.hpp"

enum { COUNT = 12 };

static double functional(const double *x)
{
    namespace views = std::views;
    std::vector<double> v(x, x + COUNT);
    auto positive =
        v | views::filter([](double a) { return a > 0.0; }) | views::transform([](double a) { return a * sqrt(a); });
    double sum = 0.0;
    for (double p : positive)
        sum += p;
    for (double d : v | views::reverse | views::drop(2) | views::take(5))
        sum += sin(d) * v[3];
    auto products =
        views::iota(0, COUNT / 2) | views::transform([&v](int i) { return v[(size_t)i] * v[(size_t)(COUNT - 1 - i)]; });
    for (double p : products)
        sum += p * p;
    std::vector<double> sorted = v;
    std::ranges::sort(sorted, std::greater<>());
    return sum + sorted[1] * *std::ranges::min_element(v);
}

static double point[COUNT];

static void setup()
{
    corpus_seed(33);
    corpus_fill(point, COUNT, -1.0, 1.2);
}

static const corpus_problem problem =
    CORPUS_OF_ARRAY("std_ranges", functional, COUNT, point, setup, .step = 0x1p-12, .coordinates = CORPUS_ALL);

CORPUS_MAIN(&problem)
