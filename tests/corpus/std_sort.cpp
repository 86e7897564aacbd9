// L-estimators by std::sort: of doubles, of floats, of ranks that are integers, and downwards; a trimmed mean, Gini's
// mean difference and a rank-weighted sum.
// Source: Huber, Ronchetti, "Robust Statistics", section 3.3 (L-estimates).
//
// corpus: libc++ O0 O2
// corpus: link O2
#include <algorithm>
#include <functional>
#include <vector>

#include "corpus.hpp"

enum { SIZE = 24 };

static double estimates(const double *x)
{
    std::vector<double> ordered(x, x + SIZE);
    std::sort(ordered.begin(), ordered.end());
    double trimmed = 0.0, gini = 0.0;
    for (int i = 0; i < SIZE; i++) {
        if (i >= 4 && i < SIZE - 4)
            trimmed += ordered[i] / (SIZE - 8);
        gini += (2 * i + 1 - SIZE) * ordered[i];
    }
    std::vector<float> rounded;
    for (int i = 0; i < 5; i++)
        rounded.push_back(static_cast<float>(x[3 * i] * x[3 * i + 1]));
    std::sort(rounded.begin(), rounded.end());
    std::vector<int> places = {5, 2, 9, 2, 7, 1};
    std::sort(places.begin(), places.end());
    std::vector<double> downwards(ordered.begin(), ordered.begin() + 9);
    downwards[0] *= x[0];
    std::sort(downwards.begin(), downwards.end(), std::greater<>());
    double weighted = 0.0;
    for (int i = 0; i < 6; i++)
        weighted += downwards[i] * x[places[i]] * (1 + i);
    return trimmed * trimmed + gini / (SIZE * SIZE) + rounded[1] * rounded[3] + 0.1 * weighted;
}

static double point[SIZE];

static void setup()
{
    for (int i = 0; i < SIZE; i++)
        point[i] = 0.25 + 0.0625 * ((7 * i) % SIZE) + 0.001 * i;
}

static const corpus_problem problem =
    CORPUS_OF_ARRAY("std_sort", estimates, SIZE, point, setup, .step = 0x1p-8, // no two samples change places
                    .fd_tolerance = 1e-4,                                      // some are rounded to float
                    .dot_tolerance = 1e-6,                                     // likewise
                    .coordinates = 6);

CORPUS_MAIN(&problem)
