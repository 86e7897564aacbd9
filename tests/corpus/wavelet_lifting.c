// A wavelet transform by lifting (Cohen-Daubechies-Feauveau 9/7) in place with a stride that doubles, soft
// thresholding of the details, and the inverse transform; lifting coefficients and threshold are active, too.
// Source: Daubechies, Sweldens, "Factoring wavelet transforms into lifting steps", J. Fourier Anal. Appl. 4 (1998).
#include "corpus.h"

static void lift(double *s, int n, int stride, int offset, double factor)
{
    for (int i = offset; i < n; i += 2) {
        int left = i > 0 ? i - 1 : i + 1, right = i + 1 < n ? i + 1 : i - 1;
        s[i * stride] += factor * (s[left * stride] + s[right * stride]);
    }
}

static void forward(double *s, int n, int levels, const double *c)
{
    for (int level = 0, stride = 1; level < levels; level++, stride *= 2, n = (n + 1) / 2)
        for (int k = 0; k < 4; k++)
            lift(s, n, stride, (k + 1) % 2, c[k]);
}

static void inverse(double *s, int n, int levels, const double *c)
{
    for (int level = levels - 1; level >= 0; level--) {
        int m = n;
        for (int l = 0; l < level; l++)
            m = (m + 1) / 2;
        for (int k = 3; k >= 0; k--)
            lift(s, m, 1 << level, (k + 1) % 2, -c[k]);
    }
}

static double denoise_loss(const double *signal, const double *clean, int n, int levels, const double *coefficients,
                           double threshold)
{
    double s[n], loss = 0.0;
    memcpy(s, signal, sizeof(s));
    forward(s, n, levels, coefficients);
    for (int i = 0; i < n; i++) {
        if (i % (1 << levels) == 0)
            continue;
        double size = sqrt(s[i] * s[i] + 1e-3);
        s[i] *= size / (size + threshold);
    }
    inverse(s, n, levels, coefficients);
    for (int i = 0; i < n; i++)
        loss += (s[i] - clean[i]) * (s[i] - clean[i]);
    return loss;
}

enum { N = CORPUS_SIZE(128, 8), LEVELS = CORPUS_SIZE(4, 2), SIZE = N + 5 };

static double point[SIZE], clean[N];

static void setup(void)
{
    static const double cdf[5] = {-1.586134342, -0.05298011854, 0.8829110762, 0.4435068522, 0.3};
    corpus_seed(193);
    for (int i = 0; i < N; i++) {
        clean[i] = sin(0.1 * i) + (i > N / 2);
        point[i] = clean[i] + corpus_uniform(-0.3, 0.3);
    }
    corpus_copy(point + N, cdf, 5);
}

static double loss(const double *x)
{
    return denoise_loss(x, clean, N, LEVELS, x + N, x[N + 4]);
}

static double value(const double *x)
{
    return loss(x);
}

static double tangent(const double *x, const double *v)
{
    return __enzyme_fwddiff((void *)loss, enzyme_dup, x, v);
}

static void gradient(const double *x, double *g)
{
    corpus_zero(g, SIZE);
    __enzyme_autodiff((void *)loss, enzyme_dup, x, g);
}

static const struct corpus_problem problem = {
    .name = "wavelet_lifting",
    .size = SIZE,
    .point = point,
    .setup = setup,
    .value = value,
    .tangent = tangent,
    .gradient = gradient,
    .step = 1.0 / 4096.0, // the threshold is smoothed over 0.03
    .fd_tolerance = 1e-6, // likewise
};

CORPUS_MAIN(&problem)
