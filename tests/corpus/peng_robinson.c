// Vapour-liquid equilibrium of a mixture with the Peng-Robinson equation: cubic roots by the trigonometric formula,
// fugacity coefficients, successive substitution around the Rachford-Rice equation (Newton inside). Phases are an
// enum argument. Active: temperature, pressure, feed, binary interaction. Source: Peng, Robinson, Ind. Eng. Chem.
// Fund. 15 (1976).
#include "corpus.h"

enum { PARTS = 3 };
enum phase { LIQUID, VAPOUR };

struct substance {
    const char *name;
    double critical_temperature, critical_pressure, acentric;
};

static const struct substance table[PARTS] = {
    {"propane", 369.8, 42.5, 0.152}, {"butane", 425.1, 38.0, 0.200}, {"pentane", 469.7, 33.7, 0.252}};

static double cubic_root(double b, double c, double d, enum phase phase)
{
    double p = c - b * b / 3.0, q = 2.0 * b * b * b / 27.0 - b * c / 3.0 + d, disc = 0.25 * q * q + p * p * p / 27.0;
    if (disc > 0.0) {
        double s = sqrt(disc);
        return cbrt(-0.5 * q + s) + cbrt(-0.5 * q - s) - b / 3.0;
    }
    double r = sqrt(-p / 3.0), angle = acos(-0.5 * q / (r * r * r)) / 3.0;
    double low = 2.0 * r * cos(angle + 2.0943951023931953) - b / 3.0, high = 2.0 * r * cos(angle) - b / 3.0;
    return phase == VAPOUR ? high : low;
}

static void fugacity(const double *x, double t, double p, double k, enum phase phase, double *out)
{
    double a[PARTS][PARTS], b[PARTS], mix_a = 0.0, mix_b = 0.0, gas = 83.14;
    for (int i = 0; i < PARTS; i++) {
        const struct substance *s = &table[i];
        double kappa = 0.37464 + 1.54226 * s->acentric - 0.26992 * s->acentric * s->acentric;
        double alpha = 1.0 + kappa * (1.0 - sqrt(t / s->critical_temperature));
        double rt = gas * s->critical_temperature;
        a[i][i] = 0.45724 * rt * rt / s->critical_pressure * alpha * alpha;
        b[i] = 0.0778 * rt / s->critical_pressure;
    }
    for (int i = 0; i < PARTS; i++)
        for (int j = 0; j < i; j++)
            a[i][j] = a[j][i] = (1.0 - k) * sqrt(a[i][i] * a[j][j]);
    for (int i = 0; i < PARTS; i++) {
        mix_b += x[i] * b[i];
        for (int j = 0; j < PARTS; j++)
            mix_a += x[i] * x[j] * a[i][j];
    }
    double A = mix_a * p / (gas * gas * t * t), B = mix_b * p / (gas * t), root2 = sqrt(2.0);
    double z = cubic_root(B - 1.0, A - 3.0 * B * B - 2.0 * B, B * (B * B + B - A), phase);
    double l = log((z + (1.0 + root2) * B) / (z + (1.0 - root2) * B)) * A / (2.0 * root2 * B);
    for (int i = 0; i < PARTS; i++) {
        double sum = 0.0;
        for (int j = 0; j < PARTS; j++)
            sum += x[j] * a[i][j];
        out[i] = exp(b[i] / mix_b * (z - 1.0) - log(z - B) - l * (2.0 * sum / mix_a - b[i] / mix_b));
    }
}

static double flash_loss(const double *v, double tolerance)
{
    double t = v[0], p = v[1], k = v[2], feed[PARTS], x[PARTS], y[PARTS], ratio[PARTS], fraction = 0.5, total = 0.0;
    for (int i = 0; i < PARTS; i++)
        total += v[3 + i];
    for (int i = 0; i < PARTS; i++) {
        const struct substance *s = &table[i];
        feed[i] = v[3 + i] / total;
        ratio[i] = s->critical_pressure / p * exp(5.373 * (1.0 + s->acentric) * (1.0 - s->critical_temperature / t));
    }
    for (int outer = 0; outer < 200; outer++) {
        for (int inner = 0; inner < 50; inner++) {
            double f = 0.0, slope = 0.0;
            for (int i = 0; i < PARTS; i++) {
                double d = 1.0 + fraction * (ratio[i] - 1.0);
                f += feed[i] * (ratio[i] - 1.0) / d;
                slope -= feed[i] * (ratio[i] - 1.0) * (ratio[i] - 1.0) / (d * d);
            }
            fraction -= f / slope;
            if (fabs(f / slope) < 1e-15)
                break;
        }
        double liquid[PARTS], vapour[PARTS], change = 0.0;
        for (int i = 0; i < PARTS; i++) {
            x[i] = feed[i] / (1.0 + fraction * (ratio[i] - 1.0));
            y[i] = ratio[i] * x[i];
        }
        fugacity(x, t, p, k, LIQUID, liquid);
        fugacity(y, t, p, k, VAPOUR, vapour);
        for (int i = 0; i < PARTS; i++) {
            change += fabs(liquid[i] / vapour[i] - ratio[i]);
            ratio[i] = liquid[i] / vapour[i];
        }
        if (change < tolerance)
            break;
    }
    return fraction + x[0] * x[0] + y[1];
}

enum { SIZE = 3 + PARTS };

static double point[SIZE] = {350.0, 10.0, 0.02, 0.4, 0.35, 0.25};

static void setup(void)
{
}

static double value(const double *x)
{
    return flash_loss(x, 1e-13);
}

static double tangent(const double *x, const double *v)
{
    return __enzyme_fwddiff((void *)flash_loss, enzyme_dup, x, v, enzyme_const, 1e-13);
}

static void gradient(const double *x, double *g)
{
    corpus_zero(g, SIZE);
    __enzyme_autodiff((void *)flash_loss, enzyme_dup, x, g, enzyme_const, 1e-13);
}

static const struct corpus_problem problem = {
    .name = "peng_robinson",
    .size = SIZE,
    .point = point,
    .setup = setup,
    .value = value,
    .tangent = tangent,
    .gradient = gradient,
    .coordinates = CORPUS_ALL,
    .fd_tolerance = 1e-6, // temperatures of 350
};

CORPUS_MAIN(&problem)
