// std::valarray with its expression templates, slices and reductions: a one-dimensional shallow-water step by Lax-
// Friedrichs.
//
// corpus: libc++ O0 O2
#include <valarray>

#include "corpus.hpp"

enum { CELLS = 12, SIZE = 2 * CELLS };

static double energy_after(const double *x)
{
    std::valarray<double> h(x, CELLS), q(x + CELLS, CELLS);
    const double dt = 0.05, g = 9.81;
    for (int step = 0; step < 4; step++) {
        std::valarray<double> flux = q * q / h + 0.5 * g * h * h;
        std::valarray<double> hr = h.cshift(1), hl = h.cshift(-1), qr = q.cshift(1), ql = q.cshift(-1);
        std::valarray<double> fr = flux.cshift(1), fl = flux.cshift(-1);
        h = 0.5 * (hr + hl) - 0.5 * dt * (qr - ql);
        q = 0.5 * (qr + ql) - 0.5 * dt * (fr - fl);
    }
    std::valarray<double> even = h[std::slice(0, CELLS / 2, 2)];
    return (0.5 * q * q / h + 0.5 * g * h * h).sum() + std::exp(-even).sum();
}

static double point[SIZE];

static void setup()
{
    corpus_seed(41);
    corpus_fill(point, CELLS, 1.0, 1.4);
    corpus_fill(point + CELLS, CELLS, -0.2, 0.2);
}

static const corpus_problem problem =
    CORPUS_OF_ARRAY("std_valarray", energy_after, SIZE, point, setup, .coordinates = 6);

CORPUS_MAIN(&problem)
