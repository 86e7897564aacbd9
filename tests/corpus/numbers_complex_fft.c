// Recursive fast Fourier transform of complex numbers and a loss on the spectrum, sum_k log(1 + |Z_k|^2) / (k + 1).
//
// Source: Cooley, Tukey, "An algorithm for the machine calculation of complex Fourier series", 1965.
// corpus: native
#include "corpus.h"

#include <complex.h>

enum { N = CORPUS_SIZE(64, 8), SIZE = 2 * N };

static void transform(double complex *z, int n, int stride, double complex *out)
{
    if (n == 1) {
        out[0] = z[0];
        return;
    }
    transform(z, n / 2, 2 * stride, out);
    transform(z + stride, n / 2, 2 * stride, out + n / 2);
    for (int k = 0; k < n / 2; k++) {
        double complex even = out[k], odd = out[k + n / 2] * cexp(-2.0 * I * M_PI * k / n);
        out[k] = even + odd;
        out[k + n / 2] = even - odd;
    }
}

static double spectrum_loss(const double *x, int n)
{
    double complex z[N], spectrum[N];
    for (int k = 0; k < n / 2; k++)
        z[k] = __builtin_complex(x[2 * k], x[2 * k + 1]);
    transform(z, n / 2, 1, spectrum);
    double loss = 0.0;
    for (int k = 0; k < n / 2; k++)
        loss += log1p(cabs(spectrum[k]) * cabs(spectrum[k])) / (k + 1);
    return loss;
}

static double point[SIZE];

static void setup(void)
{
    corpus_seed(7);
    corpus_fill(point, SIZE, -1.0, 1.0);
}

static double value(const double *x)
{
    return spectrum_loss(x, SIZE);
}

static double tangent(const double *x, const double *v)
{
    return __enzyme_fwddiff((void *)spectrum_loss, enzyme_dup, x, v, enzyme_const, SIZE);
}

static void gradient(const double *x, double *g)
{
    corpus_zero(g, SIZE);
    __enzyme_autodiff((void *)spectrum_loss, enzyme_dup, x, g, enzyme_const, SIZE);
}

static const struct corpus_problem problem = {
    .name = "numbers_complex_fft",
    .size = SIZE,
    .point = point,
    .setup = setup,
    .value = value,
    .tangent = tangent,
    .gradient = gradient,
};

CORPUS_MAIN(&problem)
