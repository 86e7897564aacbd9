// Fast Fourier transform in place and a loss on the spectrum (the corpus program); n is the size, 2 n numbers are active. By hand:
// the transform is linear, so its adjoint needs no values; kept is the spectrum, which stands in the work space anyway.
#include "bench.h"

#include "../corpus/fft.c"

struct spectrum {
    struct bench_point point;
    double *work, *weights;
};

static void spectrum_loss_into(double *re, double *im, const double *shares, int n, double *restrict result)
{
    *result = spectrum_loss(re, im, shares, n);
}

// The adjoint of `fft`, in place: the stages backwards, then the exchanges, which are their own inverse.
BENCH_INLINE void hand_fft(double *restrict re, double *restrict im, int n)
{
    for (int length = n; length >= 2; length >>= 1) {
        double angle = -2.0 * M_PI / length, step_re = cos(angle), step_im = sin(angle);
        for (int start = 0; start < n; start += length) {
            double w_re = 1.0, w_im = 0.0;
            for (int k = start; k < start + length / 2; k++) {
                int other = k + length / 2;
                double t_re = re[k] - re[other], t_im = im[k] - im[other];
                re[k] += re[other];
                im[k] += im[other];
                re[other] = t_re * w_re + t_im * w_im;
                im[other] = t_im * w_re - t_re * w_im;
                double next_re = w_re * step_re - w_im * step_im;
                w_im = w_re * step_im + w_im * step_re;
                w_re = next_re;
            }
        }
    }
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
}

BENCH_INLINE double adjoint(const struct spectrum *data, double *restrict g)
{
    int n = data->point.size;
    double *restrict re = data->work, *restrict im = re + n, loss = 0.0;
    corpus_copy(re, data->point.x, 2 * (size_t)n);
    fft(re, im, n);
    for (int k = 0; k < n; k++) {
        double power = re[k] * re[k] + im[k] * im[k], slope = 2.0 * data->weights[k] / (1.0 + power);
        loss += data->weights[k] * log1p(power);
        g[k] += slope * re[k];
        g[n + k] += slope * im[k];
    }
    hand_fft(g, g + n, n);
    return loss;
}

static struct bench_point *bench_setup(int n)
{
    struct spectrum *data = BENCH_NEW(struct spectrum, 1);
    data->point = (struct bench_point){n, 2 * (size_t)n, BENCH_NEW(double, 2 * n)};
    data->work = BENCH_NEW(double, 2 * n);
    data->weights = BENCH_NEW(double, n);
    corpus_seed(109);
    corpus_fill(data->point.x, 2 * (size_t)n, -1.0, 1.0);
    corpus_fill(data->weights, (size_t)n, 0.0, 1.0);
    return &data->point;
}

static double bench_primal(struct bench_point *at)
{
    struct spectrum *data = (struct spectrum *)at;
    corpus_copy(data->work, at->x, at->count);
    return spectrum_loss(data->work, data->work + at->size, data->weights, at->size);
}

static void bench_gradient(struct bench_point *at, double *g)
{
    struct spectrum *data = (struct spectrum *)at;
    memset(g, 0, sizeof(double) * at->count);
    corpus_copy(data->work, at->x, at->count);
    __enzyme_autodiff_void((void *)spectrum_loss, enzyme_dup, data->work, g, enzyme_dup, data->work + at->size,
                           g + at->size, enzyme_const, data->weights, enzyme_const, at->size);
}

static double bench_value_gradient(struct bench_point *at, double *g)
{
    struct spectrum *data = (struct spectrum *)at;
    double result = 0.0, seed = 1.0;
    memset(g, 0, sizeof(double) * at->count);
    corpus_copy(data->work, at->x, at->count);
    __enzyme_autodiff_void((void *)spectrum_loss_into, enzyme_dup, data->work, g, enzyme_dup, data->work + at->size,
                           g + at->size, enzyme_const, data->weights, enzyme_const, at->size, enzyme_dup, &result,
                           &seed);
    return result;
}

BENCH_HAND(struct spectrum, adjoint)

static void bench_inputs(const struct bench_point *point, struct bench_input *inputs)
{
    const struct spectrum *data = (const struct spectrum *)point;
    inputs[0] = BENCH_REALS("weights", data->weights, point->size);
}

const struct bench_kernel BENCH_NAME(BENCH_COLUMN) = {
    .name = "fft",
    .small = 64,
    .normal = 4096,
    .sweep = {64, 512, 4096, 32768},
    BENCH_FUNCTIONS,
    .inputs = bench_inputs,
};
