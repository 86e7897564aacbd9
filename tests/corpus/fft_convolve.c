// Convolution by a recursive fast Fourier transform over structs of real and imaginary part: halves are split into heap
// buffers at every level; room reverberation of a signal with an active impulse response. Loss = windowed energy ratio.
// Source: Cooley, Tukey, Math. Comp. 19 (1965), radix 2.
#include "corpus.h"

typedef struct {
    double re, im;
} complex_t;

static complex_t product(complex_t a, complex_t b)
{
    return (complex_t){a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}

static void fft(complex_t *data, int n, int sign)
{
    if (n == 1)
        return;
    complex_t *even = malloc(sizeof(complex_t) * (size_t)n), *odd = even + n / 2;
    for (int i = 0; i < n / 2; i++) {
        even[i] = data[2 * i];
        odd[i] = data[2 * i + 1];
    }
    fft(even, n / 2, sign);
    fft(odd, n / 2, sign);
    for (int k = 0; k < n / 2; k++) {
        double angle = sign * 6.283185307179586 * k / n;
        complex_t t = product((complex_t){cos(angle), sin(angle)}, odd[k]);
        data[k] = (complex_t){even[k].re + t.re, even[k].im + t.im};
        data[k + n / 2] = (complex_t){even[k].re - t.re, even[k].im - t.im};
    }
    free(even);
}

static double clarity(const double *signal, int length, const double *response, int taps)
{
    int n = 1;
    while (n < length + taps)
        n <<= 1;
    complex_t *a = calloc((size_t)n, sizeof(complex_t)), *b = calloc((size_t)n, sizeof(complex_t));
    for (int i = 0; i < length; i++)
        a[i].re = signal[i];
    for (int i = 0; i < taps; i++)
        b[i].re = response[i];
    fft(a, n, -1);
    fft(b, n, -1);
    for (int k = 0; k < n; k++)
        a[k] = product(a[k], b[k]);
    free(b);
    fft(a, n, 1);
    double early = 0.0, late = 0.0;
    for (int i = 0; i < n; i++) {
        double s = a[i].re / n;
        if (i < length / 2)
            early += s * s;
        else
            late += s * s;
    }
    free(a);
    return log(early / late);
}

enum { LENGTH = CORPUS_SIZE(100, 10), TAPS = CORPUS_SIZE(27, 5), SIZE = LENGTH + TAPS };

static double point[SIZE];

static void setup(void)
{
    corpus_seed(191);
    corpus_fill(point, SIZE, -1.0, 1.0);
    for (int i = 0; i < TAPS; i++)
        point[LENGTH + i] *= exp(-3.0 * i / TAPS);
}

static double value(const double *x)
{
    return clarity(x, LENGTH, x + LENGTH, TAPS);
}

static double tangent(const double *x, const double *v)
{
    return __enzyme_fwddiff((void *)clarity, enzyme_dup, x, v, enzyme_const, LENGTH, enzyme_dup, x + LENGTH, v + LENGTH,
                            enzyme_const, TAPS);
}

static void gradient(const double *x, double *g)
{
    corpus_zero(g, SIZE);
    __enzyme_autodiff((void *)clarity, enzyme_dup, x, g, enzyme_const, LENGTH, enzyme_dup, x + LENGTH, g + LENGTH,
                      enzyme_const, TAPS);
}

static const struct corpus_problem problem = {
    .name = "fft_convolve",
    .size = SIZE,
    .point = point,
    .setup = setup,
    .value = value,
    .tangent = tangent,
    .gradient = gradient,
};

CORPUS_MAIN(&problem)
