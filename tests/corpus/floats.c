// A single-precision kernel: local response of a one-dimensional convolution with float weights, a soft threshold, and a
// loss in double. Float arrays are the active memory; the bias is an active float scalar.
// Variant: a typed marker without variadic arguments, so that the float scalar stays a float.
#include "corpus.h"

static float response(const float *signal, const float *kernel, int taps, float bias)
{
    float sum = bias;
    for (int k = 0; k < taps; k++)
        sum += signal[k] * kernel[k];
    return sum / (1.0f + fabsf(sum)) + 0.1f * expf(-sum * sum);
}

static double convolution_loss(const float *signal, int n, const float *kernel, int taps, float bias, float *output)
{
    double loss = 0.0;
    for (int i = 0; i + taps <= n; i++)
        output[i] = response(signal + i, kernel, taps, bias);
    for (int i = 0; i + taps < n; i++) {
        output[i] -= output[i + 1];
        loss += (double)output[i] * output[i];
    }
    return loss;
}

enum { N = CORPUS_SIZE(300, 12), TAPS = CORPUS_SIZE(9, 3), SIZE = N + TAPS + 1 };

CORPUS_MARKER_TYPED(double, __enzyme_fwddiff_typed, int signal_kind, const float *signal, const float *d_signal, int n,
                    int kernel_kind, const float *kernel, const float *d_kernel, int taps, int bias_kind, float bias,
                    float d_bias, int output_kind, float *output, float *d_output)
CORPUS_MARKER_TYPED(float, __enzyme_autodiff_typed, int signal_kind, const float *signal, float *d_signal, int n,
                    int kernel_kind, const float *kernel, float *d_kernel, int taps, int bias_kind, float bias,
                    int output_kind, float *output, float *d_output)

static double point[SIZE];
static float work[SIZE], shadow[SIZE], output[N], output_shadow[N];

static void setup(void)
{
    corpus_seed(28);
    corpus_fill(point, N, -1.0, 1.0);
    corpus_fill(point + N, TAPS + 1, -0.4, 0.4);
}

static void to_float(float *to, const double *from)
{
    for (int i = 0; i < SIZE; i++)
        to[i] = (float)from[i];
}

static double value(const double *x)
{
    to_float(work, x);
    return convolution_loss(work, N, work + N, TAPS, work[N + TAPS], output);
}

static double tangent(const double *x, const double *v)
{
    to_float(work, x);
    to_float(shadow, v);
    memset(output_shadow, 0, sizeof(output_shadow));
    return __enzyme_fwddiff_typed((void *)convolution_loss, enzyme_dup, work, shadow, N, enzyme_dup, work + N,
                                  shadow + N, TAPS, enzyme_dup, work[N + TAPS], shadow[N + TAPS], enzyme_dup, output,
                                  output_shadow);
}

static void gradient(const double *x, double *g)
{
    to_float(work, x);
    memset(shadow, 0, sizeof(shadow));
    memset(output_shadow, 0, sizeof(output_shadow));
    shadow[N + TAPS] = __enzyme_autodiff_typed((void *)convolution_loss, enzyme_dup, work, shadow, N, enzyme_dup,
                                               work + N, shadow + N, TAPS, enzyme_out, work[N + TAPS],
                                               enzyme_dupnoneed, output, output_shadow);
    for (int i = 0; i < SIZE; i++)
        g[i] = shadow[i];
}

// The bias is constant: a float scalar that carries no derivative.
static void gradient_signal(const double *x, double *g)
{
    to_float(work, x);
    memset(shadow, 0, sizeof(shadow));
    memset(output_shadow, 0, sizeof(output_shadow));
    __enzyme_autodiff_typed((void *)convolution_loss, enzyme_dup, work, shadow, N, enzyme_dup, work + N, shadow + N,
                            TAPS, enzyme_const, work[N + TAPS], enzyme_dup, output, output_shadow);
    for (int i = 0; i < N + TAPS; i++)
        g[i] = shadow[i];
}

static const struct corpus_problem problem = {
    .name = "floats",
    .size = SIZE,
    .point = point,
    .setup = setup,
    .value = value,
    .tangent = tangent,
    .gradient = gradient,
    .variants = {{.name = "gradient with a constant bias", .gradient = gradient_signal, .end = N + TAPS}},
    // Rounding to 24 bits (6e-8), 300 terms, over steps of 1/16 down: three digits remain.
    .step = 1.0 / 16.0,
    .fd_tolerance = 5e-3,
    .dot_tolerance = 1e-5, // adjoints are sums of 300 floats, in another order than the tangents
};

CORPUS_MAIN(&problem)
