// Complete elliptic integrals by Carlson's duplication, whose first argument is the constant zero: its root has an
// infinite slope, of which a tangent that is zero must not make a NaN; and the arithmetic-geometric mean from a
// constant. Source: Carlson, "Numerical computation of real or complex elliptic integrals", Numerical Algorithms 10
// (1995).
#include "corpus.h"

enum { N = 4 };

static double duplicate(double x, double y, double z)
{
    for (int i = 0; i < 40; i++) {
        double mean = (x + y + z) / 3.0, a = 2.0 - (mean + x) / mean, b = 2.0 - (mean + y) / mean;
        double c = 2.0 - (mean + z) / mean;
        if (fabs(a) < 1e-4 && fabs(b) < 1e-4 && fabs(c) < 1e-4) {
            double e2 = a * b - c * c, e3 = a * b * c;
            return (1.0 + (e2 / 24.0 - 0.1 - 3.0 * e3 / 44.0) * e2 + e3 / 14.0) / sqrt(mean);
        }
        double rx = sqrt(x), ry = sqrt(y), rz = sqrt(z), lambda = rx * (ry + rz) + ry * rz;
        x = (x + lambda) * 0.25;
        y = (y + lambda) * 0.25;
        z = (z + lambda) * 0.25;
    }
    return 0.0;
}

// Roots of a sum that starts as the square of a constant, which is zero.
static double grown(const double *x)
{
    double r = 0.0, sum = 0.0;
    for (int i = 0; i < N; i++) {
        sum += sqrt(r * 0.5) * pow(r, 0.4);
        r = x[i] + 0.1 * r;
    }
    return sum;
}

static double integrals(const double *x)
{
    double k = duplicate(0.0, 1.0 - x[0] * x[0], 1.0), f = duplicate(x[1], 1.0 + x[2], x[3]);
    return k * f + grown(x);
}

static double point[N] = {0.7, 1.3, 0.4, 2.1};

static double value(const double *x)
{
    return integrals(x);
}

static double tangent(const double *x, const double *v)
{
    return __enzyme_fwddiff((void *)integrals, enzyme_dup, x, v);
}

static void gradient(const double *x, double *g)
{
    corpus_zero(g, N);
    __enzyme_autodiff((void *)integrals, enzyme_dup, x, g);
}

static const struct corpus_problem problem = {
    .name = "elliptic_integrals",
    .size = N,
    .point = point,
    .value = value,
    .tangent = tangent,
    .gradient = gradient,
    .coordinates = CORPUS_ALL,
};

CORPUS_MAIN(&problem)
