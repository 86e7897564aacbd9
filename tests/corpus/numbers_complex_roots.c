// Roots of a complex polynomial by the simultaneous iteration of Weierstrass, Durand and Kerner, and a loss on them:
//
//   z_k <- z_k - p(z_k) / prod_{j != k} (z_k - z_j),   loss = sum_k (k + 1) |z_k - (1 + i)|^2
//
// Source: Kerner, "Ein Gesamtschrittverfahren zur Berechnung der Nullstellen von Polynomen", 1966.
#include "corpus.h"

#include <complex.h>

enum { DEGREE = 5, SIZE = 2 * DEGREE, SWEEPS = CORPUS_SIZE(30, 12) };

static double complex monic(const double complex *c, double complex z)
{
    double complex sum = 1.0;
    for (int k = DEGREE - 1; k >= 0; k--)
        sum = sum * z + c[k];
    return sum;
}

static double roots_loss(const double *x, int n)
{
    double complex c[DEGREE], z[DEGREE];
    for (int k = 0; k < n / 2; k++) {
        c[k] = __builtin_complex(x[2 * k], x[2 * k + 1]);
        z[k] = k == 0 ? __builtin_complex(0.4, 0.9) : z[k - 1] * __builtin_complex(0.4, 0.9);
    }
    for (int sweep = 0; sweep < SWEEPS; sweep++)
        for (int k = 0; k < DEGREE; k++) {
            double complex others = 1.0;
            for (int j = 0; j < DEGREE; j++)
                if (j != k)
                    others *= z[k] - z[j];
            z[k] -= monic(c, z[k]) / others;
        }
    double loss = 0.0;
    for (int k = 0; k < DEGREE; k++) {
        double complex off = z[k] - __builtin_complex(1.0, 1.0);
        loss += (k + 1) * creal(off * conj(off));
    }
    return loss;
}

static double point[SIZE];

static void setup(void)
{
    corpus_seed(11);
    corpus_fill(point, SIZE, 0.3, 0.9);
}

static double value(const double *x)
{
    return roots_loss(x, SIZE);
}

static double tangent(const double *x, const double *v)
{
    return __enzyme_fwddiff((void *)roots_loss, enzyme_dup, x, v, enzyme_const, SIZE);
}

static void gradient(const double *x, double *g)
{
    corpus_zero(g, SIZE);
    __enzyme_autodiff((void *)roots_loss, enzyme_dup, x, g, enzyme_const, SIZE);
}

static const struct corpus_problem problem = {
    .name = "numbers_complex_roots",
    .size = SIZE,
    .point = point,
    .setup = setup,
    .value = value,
    .tangent = tangent,
    .gradient = gradient,
    .step = 1.0 / 1024.0, // roots move fast
};

CORPUS_MAIN(&problem)
