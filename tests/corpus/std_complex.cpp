// std::complex: magnitude of the response of an RLC ladder and of a Joukowski-mapped potential flow: multiplication,
// division, exp, sqrt, pow, abs, arg and polar.
//
// corpus: libc++ O0 O2
#include <complex>

#include "corpus.hpp"

using Complex = std::complex<double>;

static double response(const double *x)
{
    const Complex j(0.0, 1.0);
    double sum = 0.0;
    for (int k = 1; k <= 4; k++) {
        const double omega = 0.5 * k;
        Complex impedance = x[0];
        for (int stage = 0; stage < 3; stage++) {
            Complex series = x[1] + j * omega * x[2], shunt = 1.0 / (j * omega * x[3]);
            impedance = series + impedance * shunt / (impedance + shunt);
        }
        sum += std::norm(x[0] / impedance) + 0.1 * std::arg(impedance);
    }
    Complex z = std::polar(1.2 + 0.1 * x[4], x[5]);
    Complex potential = z + 1.0 / z + j * x[4] * std::log(z);
    Complex root = std::sqrt(potential * potential - 4.0);
    return sum + std::abs(root) + std::real(std::exp(0.3 * potential) * std::conj(std::pow(z, 1.5)));
}

static double point[6] = {1.0, 0.2, 0.7, 0.5, 0.4, 0.9};
static const corpus_problem problem =
    CORPUS_OF_ARRAY("std_complex", response, 6, point, nullptr, .coordinates = CORPUS_ALL);

CORPUS_MAIN(&problem)
