// Statistics by bins of a histogram: a bin without weight has no mean, one without spread no deviation, and results
// without a value are left out. Where the optimiser computes quotients and roots before it is known that they are
// wanted, nothing of them may reach the gradient: in the empty bins they are 0/0 and 1/sqrt(0).
//
// corpus: libc++ O0 O2
#include <optional>

#include "corpus.hpp"

enum { VALUES = 12, BINS = 5 };

static const int bin_of[VALUES] = {0, 1, 1, 3, 3, 3, 0, 4, 1, 3, 0, 3};

struct Ratio {
    double value;
    bool is_known;
};

__attribute__((noinline)) static std::optional<double> mean(const double *x, int bin)
{
    double sum = 0.0, weight = 0.0;
    for (int i = 0; i < VALUES; i++) {
        double w = bin_of[i] == bin ? 1.0 + x[VALUES - 1 - i] : 0.0;
        sum += w * x[i];
        weight += w;
    }
    if (weight == 0.0)
        return std::nullopt;
    return 2.0 * sum / weight;
}

__attribute__((noinline)) static std::optional<double> deviation(const double *x, int bin, double center)
{
    double sum = 0.0;
    for (int i = 0; i < VALUES; i++)
        if (bin_of[i] == bin)
            sum += (x[i] - center) * (x[i] - center);
    if (!(sum > 0.0))
        return std::nullopt;
    return (1.0 + center) * __builtin_elementwise_sqrt(sum);
}

__attribute__((noinline)) static Ratio ratio(double above, double below)
{
    Ratio r;
    r.is_known = below > 0.0;
    if (r.is_known)
        r.value = above / __builtin_elementwise_sqrt(below);
    return r;
}

static double spread(const double *x)
{
    double total = 0.0;
    for (int b = 0; b < BINS; b++) {
        std::optional<double> center = mean(x, b);
        std::optional<double> width = deviation(x, b, 0.5 * center.value_or(x[b]));
        total += center ? *center : 0.1 * b;
        if (width)
            total += sin(*width);
        Ratio r = ratio(x[b], x[b + 1] - x[b]);
        total += r.is_known ? r.value : x[b];
        double slope = 0.0;
        if (b % 2)
            slope = x[b] / (b % 2 ? x[b + 2] : 0.0);
        total += b % 2 ? slope * slope : 0.0;
    }
    return total;
}

static double point[VALUES] = {0.6, 0.1, 1.3, 0.8, 0.4, 0.2, 1.5, 0.7, 1.2, 0.3, 1.0, 0.9};
static const corpus_problem problem =
    CORPUS_OF_ARRAY("optional_bins", spread, VALUES, point, nullptr, .coordinates = CORPUS_ALL);

CORPUS_MAIN(&problem)
