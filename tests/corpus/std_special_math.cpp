// The special functions of <cmath> (templates in libstdc++) and std::lerp, std::hypot of three, std::fma: the far field
// of a circular aperture and a multipole expansion.
#include <cmath>

#include "corpus.hpp"

static double intensity(const double *x)
{
    double sum = 0.0;
    for (int i = 1; i <= 5; i++) {
        double u = std::lerp(0.3, x[0], 0.2 * i);
        double amplitude = 2.0 * std::cyl_bessel_j(1.0, u) / u;
        sum += amplitude * amplitude;
    }
    double radius = std::hypot(x[1], x[2], x[3]), cosine = x[3] / radius;
    for (unsigned l = 0; l < 4; l++)
        sum += x[4] * std::legendre(l, cosine) / std::pow(radius, (int)l + 1);
    return std::fma(sum, std::beta(x[1], x[2]), std::hermite(3u, 0.5 * x[0]) * std::laguerre(2u, x[3]));
}

static double point[5] = {2.1, 0.8, 1.1, 0.6, 0.4};
static const corpus_problem problem =
    CORPUS_OF_ARRAY("std_special_math", intensity, 5, point, nullptr, .coordinates = CORPUS_ALL);

CORPUS_MAIN(&problem)
