// std::cout in an active function, with manipulators: a Newton iteration for Kepler's equation E - e sin E = M which
// prints its iterates when it is told to.
//
// corpus: libc++ O0 O2
#include <iomanip>
#include <iostream>

#include "corpus.hpp"

static double radius(const double *x, bool verbose)
{
    double anomaly = x[1];
    for (int i = 0; i < 6; i++) {
        double miss = anomaly - x[0] * sin(anomaly) - x[1];
        anomaly -= miss / (1.0 - x[0] * cos(anomaly));
        if (verbose)
            std::cout << "E" << i << " = " << std::setprecision(6) << std::fixed << anomaly << std::endl;
    }
    if (verbose)
        std::cout << std::flush;
    return x[2] * (1.0 - x[0] * cos(anomaly));
}

static double value(const double *x)
{
    return radius(x, false);
}

static double tangent(const double *x, const double *v)
{
    return __enzyme_fwddiff<double>((void *)radius, enzyme_dup, x, v, enzyme_const, true);
}

static void gradient(const double *x, double *g)
{
    corpus_zero(g, 3);
    __enzyme_autodiff<void>((void *)radius, enzyme_dup, x, g, enzyme_const, true);
}

static double point[3] = {0.3, 1.1, 1.7};
static const corpus_problem problem = {.name = "std_cout",
                                       .size = 3,
                                       .point = point,
                                       .value = value,
                                       .tangent = tangent,
                                       .gradient = gradient,
                                       .coordinates = CORPUS_ALL};

CORPUS_MAIN(&problem)
