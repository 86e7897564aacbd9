// Van der Pol's oscillator by Runge-Kutta-Fehlberg with error control, coefficients in constant tables, the right-
// hand side behind a pointer to a context; steps are rejected by the data. Loss = distance of the end from a target +
// arc length.
// Source: Fehlberg, NASA TR R-315 (1969).
#include "corpus.h"

static const double A[6][5] = {
    {0.0},
    {1.0 / 4.0},
    {3.0 / 32.0, 9.0 / 32.0},
    {1932.0 / 2197.0, -7200.0 / 2197.0, 7296.0 / 2197.0},
    {439.0 / 216.0, -8.0, 3680.0 / 513.0, -845.0 / 4104.0},
    {-8.0 / 27.0, 2.0, -3544.0 / 2565.0, 1859.0 / 4104.0, -11.0 / 40.0},
};
static const double B[6] = {16.0 / 135.0, 0.0, 6656.0 / 12825.0, 28561.0 / 56430.0, -9.0 / 50.0, 2.0 / 55.0};
static const double E[6] = {1.0 / 360.0, 0.0, -128.0 / 4275.0, -2197.0 / 75240.0, 1.0 / 50.0, 2.0 / 55.0};
static const double C[6] = {0.0, 0.25, 0.375, 12.0 / 13.0, 1.0, 0.5};

struct oscillator {
    double damping, drive, frequency;
};

static void slope(const struct oscillator *o, double t, const double *y, double *d)
{
    d[0] = y[1];
    d[1] = o->damping * (1.0 - y[0] * y[0]) * y[1] - y[0] + o->drive * cos(o->frequency * t);
}

static double orbit_loss(const double *x, double end, double tolerance)
{
    struct oscillator o = {x[0], x[1], x[2]};
    double y[2] = {x[3], x[4]}, t = 0.0, h = 0.1, arc = 0.0;
    int rejected = 0;
    while (end - t > 1e-12) {
        double k[6][2], stage[2], error = 0.0, next[2];
        if (h > end - t)
            h = end - t;
        for (int s = 0; s < 6; s++) {
            for (int i = 0; i < 2; i++) {
                stage[i] = y[i];
                for (int r = 0; r < s; r++)
                    stage[i] += h * A[s][r] * k[r][i];
            }
            slope(&o, t + C[s] * h, stage, k[s]);
        }
        for (int i = 0; i < 2; i++) {
            double e = 0.0;
            next[i] = y[i];
            for (int s = 0; s < 6; s++) {
                next[i] += h * B[s] * k[s][i];
                e += h * E[s] * k[s][i];
            }
            error += e * e;
        }
        error = sqrt(error) / tolerance;
        double factor = 0.9 * pow(error + 1e-10, -0.2);
        if (error <= 1.0) {
            arc += hypot(next[0] - y[0], next[1] - y[1]);
            t += h;
            y[0] = next[0];
            y[1] = next[1];
        } else {
            rejected++;
        }
        h *= factor < 0.2 ? 0.2 : factor > 3.0 ? 3.0 : factor;
    }
    return (y[0] - 1.0) * (y[0] - 1.0) + y[1] * y[1] + 0.1 * arc + 1e-3 * rejected;
}

enum { SIZE = 5 };

static double point[SIZE] = {1.5, 0.4, 1.1, 1.2, -0.3};

static void setup(void)
{
}

static double value(const double *x)
{
    return orbit_loss(x, CORPUS_SIZE(8.0, 0.5), 1e-6);
}

static double tangent(const double *x, const double *v)
{
    return __enzyme_fwddiff((void *)orbit_loss, enzyme_dup, x, v, enzyme_const, CORPUS_SIZE(8.0, 0.5), enzyme_const,
                            1e-6);
}

static void gradient(const double *x, double *g)
{
    corpus_zero(g, SIZE);
    __enzyme_autodiff((void *)orbit_loss, enzyme_dup, x, g, enzyme_const, CORPUS_SIZE(8.0, 0.5), enzyme_const, 1e-6);
}

static const struct corpus_problem problem = {
    .name = "rkf45",
    .size = SIZE,
    .point = point,
    .setup = setup,
    .value = value,
    .tangent = tangent,
    .gradient = gradient,
    .coordinates = CORPUS_ALL,
    .step = 0x1p-20, // the steps accepted and rejected stay the same
    .fd_tolerance = 1e-5, // rounding over a small step
};

CORPUS_MAIN(&problem)
