// Functions of the mathematical library as codes that are in a hurry write them, by the bits of their arguments: the
// logarithm by mantissa and exponent and the exponential by adding to the exponent, as in VDT (D. Piparo, V. Innocente
// and T. Hauth, Journal of Physics: Conference Series 513, 2014), the reciprocal square root and the cube root by a first
// guess of shifted or divided bits, improved by Newton's method. The program is the likelihood of a mixture of Gaussians
// in the plane, beside a potential of charges.
#include "corpus.h"

enum { POINTS = CORPUS_SIZE(40, 6), N = 2 * POINTS };

static uint64_t bits_of(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static double of_bits(uint64_t bits)
{
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static double fast_log(double x)
{
    uint64_t bits = bits_of(x);
    int exponent = (int)(bits >> 52 & 0x7ff) - 1022;
    double m = of_bits((bits & 0x000fffffffffffff) | 0x3fe0000000000000);
    if (m < 0.70710678118654752) {
        m += m;
        exponent--;
    }
    double y = (m - 1.0) / (m + 1.0), w = y * y;
    double series = 1.0 + w * (1.0 / 3 + w * (1.0 / 5 + w * (1.0 / 7 + w * (1.0 / 9 + w * (1.0 / 11 + w / 13)))));
    return 2.0 * y * series + exponent * 0.69314718055994531;
}

static double fast_exp(double x)
{
    const double large = 0x1.8p52;
    double k = x * 1.4426950408889634 + large;
    uint64_t whole = bits_of(k);
    k -= large;
    double r = x - k * 0.69314718055994531, p = 1.0;
    for (int n = 9; n > 0; n--)
        p = 1.0 + p * r / n;
    return of_bits(bits_of(p) + (whole << 52));
}

static double reciprocal_root(double x)
{
    double y = of_bits(0x5fe6eb50c7b537a9 - (bits_of(x) >> 1));
    for (int n = 0; n < 4; n++)
        y *= 1.5 - 0.5 * x * y * y;
    return y;
}

static double cube_root(double x)
{
    double t = of_bits((uint64_t)((uint32_t)(bits_of(x) >> 32) / 3 + 715094163) << 32);
    for (int n = 0; n < 4; n++)
        t -= (t - x / (t * t)) / 3.0;
    return t;
}

static double energy(const double *x)
{
    double sum = 0.0;
    for (int i = 0; i < POINTS; i++) {
        double mixture = 0.0;
        for (int k = 0; k < 3; k++) {
            double dx = x[2 * i] - 0.4 * k, dy = x[2 * i + 1] - 0.3 * k * k;
            mixture += (0.2 + 0.1 * k) * fast_exp(-0.5 * (dx * dx + dy * dy) / (0.5 + 0.2 * k));
        }
        sum -= fast_log(mixture);
        for (int j = 0; j < i; j++) {
            double dx = x[2 * i] - x[2 * j], dy = x[2 * i + 1] - x[2 * j + 1], square = dx * dx + dy * dy + 0.1;
            sum += 0.01 * (reciprocal_root(square) + cube_root(square));
        }
    }
    return sum;
}

static double point[N];

static void setup(void)
{
    for (int i = 0; i < N; i++)
        point[i] = 0.2 + 0.31 * ((5 * i + 2) % 7) + 0.013 * i;
}

static double value(const double *x)
{
    return energy(x);
}

static double tangent(const double *x, const double *v)
{
    return __enzyme_fwddiff((void *)energy, enzyme_dup, x, v);
}

static void gradient(const double *x, double *g)
{
    corpus_zero(g, N);
    __enzyme_autodiff((void *)energy, enzyme_dup, x, g);
}

static const struct corpus_problem problem = {
    .name = "bits_made",
    .size = N,
    .point = point,
    .setup = setup,
    .value = value,
    .tangent = tangent,
    .gradient = gradient,
    .coordinates = CORPUS_ALL,
};

CORPUS_MAIN(&problem)
