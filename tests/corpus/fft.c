// Iterative radix-2 fast Fourier transform in place on split real and imaginary arrays, and a loss on the spectrum:
//
//   Z = FFT(x),  loss = sum_k w_k log(1 + |Z_k|^2)
//
// Source: Cooley, Tukey, "An algorithm for the machine calculation of complex Fourier series", 1965.
#include "corpus.h"

static void swap(double *a, double *b)
{
    double kept = *a;
    *a = *b;
    *b = kept;
}

static void fft(double *re, double *im, int n)
{
    for (int i = 1, j = 0; i < n; i++) {
        int bit = n >> 1;
        for (; j & bit; bit >>= 1)
            j ^= bit;
        j ^= bit;
        if (i < j) {
            swap(&re[i], &re[j]);
            swap(&im[i], &im[j]);
        }
    }
    for (int length = 2; length <= n; length <<= 1) {
        double angle = -2.0 * M_PI / length, step_re = cos(angle), step_im = sin(angle);
        for (int start = 0; start < n; start += length) {
            double w_re = 1.0, w_im = 0.0;
            for (int k = start; k < start + length / 2; k++) {
                int other = k + length / 2;
                double t_re = re[other] * w_re - im[other] * w_im;
                double t_im = re[other] * w_im + im[other] * w_re;
                re[other] = re[k] - t_re;
                im[other] = im[k] - t_im;
                re[k] += t_re;
                im[k] += t_im;
                double next_re = w_re * step_re - w_im * step_im;
                w_im = w_re * step_im + w_im * step_re;
                w_re = next_re;
            }
        }
    }
}

static double spectrum_loss(double *re, double *im, const double *weights, int n)
{
    double loss = 0.0;
    fft(re, im, n);
    for (int k = 0; k < n; k++)
        loss += weights[k] * log1p(re[k] * re[k] + im[k] * im[k]);
    return loss;
}

enum { N = CORPUS_SIZE(1024, 16), SIZE = 2 * N };

static double point[SIZE], weights[N];
static double work[SIZE], shadow[SIZE];

static void setup(void)
{
    corpus_seed(5);
    corpus_fill(point, SIZE, -1.0, 1.0);
    corpus_fill(weights, N, 0.0, 1.0);
}

static double value(const double *x)
{
    corpus_copy(work, x, SIZE);
    return spectrum_loss(work, work + N, weights, N);
}

static double tangent(const double *x, const double *v)
{
    corpus_copy(work, x, SIZE);
    corpus_copy(shadow, v, SIZE);
    return __enzyme_fwddiff((void *)spectrum_loss, enzyme_dup, work, shadow, enzyme_dup, work + N, shadow + N,
                            enzyme_const, weights, enzyme_const, N);
}

static void gradient(const double *x, double *g)
{
    corpus_copy(work, x, SIZE);
    corpus_zero(g, SIZE);
    __enzyme_autodiff((void *)spectrum_loss, enzyme_dup, work, g, enzyme_dup, work + N, g + N, enzyme_const, weights,
                      enzyme_const, N);
}

static void gradient_no_need(const double *x, double *g)
{
    corpus_copy(work, x, SIZE);
    corpus_zero(g, SIZE);
    __enzyme_autodiff((void *)spectrum_loss, enzyme_dupnoneed, work, g, enzyme_dupnoneed, work + N, g + N,
                      enzyme_const, weights, N);
}

// The loss differentiated by hand, the transform by reverse mode from the adjoints of its output. The transform is
// linear, so the reverse sweep needs no value of the signal.
static void gradient_seeded(const double *x, double *g)
{
    corpus_copy(work, x, SIZE);
    fft(work, work + N, N);
    for (int k = 0; k < N; k++) {
        double slope = 2.0 * weights[k] / (1.0 + work[k] * work[k] + work[N + k] * work[N + k]);
        g[k] = slope * work[k];
        g[N + k] = slope * work[N + k];
    }
    corpus_copy(work, x, SIZE);
    __enzyme_autodiff_void((void *)fft, work, g, work + N, g + N, N);
}

static const struct corpus_problem problem = {
    .name = "fft",
    .size = SIZE,
    .point = point,
    .setup = setup,
    .value = value,
    .tangent = tangent,
    .gradient = gradient,
    .variants =
        {
            {.name = "gradient with enzyme_dupnoneed", .gradient = gradient_no_need},
            {.name = "gradient from seeded output", .gradient = gradient_seeded},
        },
};

CORPUS_MAIN(&problem)
