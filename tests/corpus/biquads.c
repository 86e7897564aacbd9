// A cascade of second-order filters in single precision with coefficients from an active centre frequency, quality
// and gain (cookbook formulas); the delay elements are in the filter structs and change with every sample; a limiter
// follows.
// Source: Bristow-Johnson, "Cookbook formulae for audio EQ biquad filter coefficients".
#include "corpus.h"

typedef struct {
    float b[3], a[2];
    float delay[2];
} biquad;

static biquad peaking(float frequency, float quality, float decibels)
{
    float amplitude = powf(10.0f, decibels / 40.0f), w = 6.2831853f * frequency;
    float alpha = sinf(w) / (2.0f * quality), a0 = 1.0f + alpha / amplitude;
    biquad f = {{(1.0f + alpha * amplitude) / a0, -2.0f * cosf(w) / a0, (1.0f - alpha * amplitude) / a0},
                {-2.0f * cosf(w) / a0, (1.0f - alpha / amplitude) / a0},
                {0.0f, 0.0f}};
    return f;
}

static float process(biquad *f, float in)
{
    float out = f->b[0] * in + f->delay[0];
    f->delay[0] = f->b[1] * in - f->a[0] * out + f->delay[1];
    f->delay[1] = f->b[2] * in - f->a[1] * out;
    return out;
}

static double equaliser_loss(const float *settings, int bands, const float *signal, int count)
{
    biquad cascade[8];
    double loss = 0.0;
    for (int b = 0; b < bands; b++)
        cascade[b] = peaking(settings[3 * b], settings[3 * b + 1], settings[3 * b + 2]);
    for (int t = 0; t < count; t++) {
        float sample = signal[t];
        for (int b = 0; b < bands; b++)
            sample = process(&cascade[b], sample);
        sample = tanhf(sample);
        loss += (double)sample * sample;
    }
    return loss / count;
}

enum { BANDS = CORPUS_SIZE(4, 2), COUNT = CORPUS_SIZE(400, 10), SIZE = 3 * BANDS };

static double point[SIZE];
static float settings[SIZE], shadow[SIZE], signal[COUNT];

static void setup(void)
{
    corpus_seed(190);
    for (int b = 0; b < BANDS; b++) {
        point[3 * b] = 0.05 + 0.08 * b;
        point[3 * b + 1] = 1.0 + 0.3 * b;
        point[3 * b + 2] = b % 2 ? -4.0 : 5.0;
    }
    for (int t = 0; t < COUNT; t++)
        signal[t] = (float)corpus_uniform(-1.0, 1.0);
}

static double value(const double *x)
{
    for (int i = 0; i < SIZE; i++)
        settings[i] = (float)x[i];
    return equaliser_loss(settings, BANDS, signal, COUNT);
}

static double tangent(const double *x, const double *v)
{
    for (int i = 0; i < SIZE; i++) {
        settings[i] = (float)x[i];
        shadow[i] = (float)v[i];
    }
    return __enzyme_fwddiff((void *)equaliser_loss, enzyme_dup, settings, shadow, enzyme_const, BANDS, enzyme_const,
                            signal, enzyme_const, COUNT);
}

static void gradient(const double *x, double *g)
{
    for (int i = 0; i < SIZE; i++)
        settings[i] = (float)x[i];
    memset(shadow, 0, sizeof(shadow));
    __enzyme_autodiff((void *)equaliser_loss, enzyme_dup, settings, shadow, enzyme_const, BANDS, enzyme_const, signal,
                      enzyme_const, COUNT);
    for (int i = 0; i < SIZE; i++)
        g[i] = shadow[i];
}

static const struct corpus_problem problem = {
    .name = "biquads",
    .size = SIZE,
    .point = point,
    .setup = setup,
    .value = value,
    .tangent = tangent,
    .gradient = gradient,
    .step = 1.0 / 64.0,
    .fd_tolerance = 5e-3,  // floats: 24 bits, 400 samples through feedback
    .dot_tolerance = 1e-4, // likewise
};

CORPUS_MAIN(&problem)
