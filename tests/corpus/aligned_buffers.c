// Buffers from posix_memalign and aligned_alloc, as codes that hope for vector loads have them: a blocked correlation
// of a signal with a bank of filters, computed in tiles that are copied into aligned scratch first.
//
//   c_kt = sum_j f_kj s_{t+j},  loss = sum_k log(1 + max-free energy_k),  energy_k = sum_t c_kt^2
#include "corpus.h"

enum { TILE = 32, ALIGNMENT = 64 };

static double *aligned_doubles(size_t count)
{
    void *memory = NULL;
    if (posix_memalign(&memory, ALIGNMENT, (count * sizeof(double) + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT) != 0)
        return NULL;
    return memory;
}

static void correlate_tile(const double *restrict signal, const double *restrict filter, int taps,
                           double *restrict output, int count)
{
    for (int t = 0; t < count; t++) {
        double sum = 0.0;
        for (int j = 0; j < taps; j++)
            sum += filter[j] * signal[t + j];
        output[t] = sum;
    }
}

static double filter_bank(const double *signal, int count, const double *filters, int bank, int taps)
{
    double *tile = aligned_doubles((size_t)(TILE + taps));
    double *energies = aligned_doubles((size_t)bank);
    if (!tile || !energies) {
        free(tile);
        free(energies);
        return -1.0;
    }
    memset(energies, 0, (size_t)bank * sizeof(double));
    for (int start = 0; start + taps <= count; start += TILE) {
        int outputs = count - taps + 1 - start;
        if (outputs > TILE)
            outputs = TILE;
        memcpy(tile, signal + start, (size_t)(outputs + taps - 1) * sizeof(double));
        for (int k = 0; k < bank; k++) {
            double *output = aligned_alloc(ALIGNMENT, TILE * sizeof(double));
            correlate_tile(tile, filters + k * taps, taps, output, outputs);
            for (int t = 0; t < outputs; t++)
                energies[k] += output[t] * output[t];
            free(output);
        }
    }
    double loss = 0.0;
    for (int k = 0; k < bank; k++)
        loss += log1p(energies[k]);
    free(energies);
    free(tile);
    return loss;
}

enum { COUNT = CORPUS_SIZE(200, 40), BANK = CORPUS_SIZE(5, 2), TAPS = CORPUS_SIZE(8, 3), SIZE = COUNT + BANK * TAPS };

static double point[SIZE];

static void setup(void)
{
    corpus_seed(108);
    corpus_fill(point, SIZE, -1.0, 1.0);
}

static double value(const double *x)
{
    return filter_bank(x, COUNT, x + COUNT, BANK, TAPS);
}

static double tangent(const double *x, const double *v)
{
    return __enzyme_fwddiff((void *)filter_bank, enzyme_dup, x, v, enzyme_const, COUNT, enzyme_dup, x + COUNT,
                            v + COUNT, enzyme_const, BANK, enzyme_const, TAPS);
}

static void gradient(const double *x, double *g)
{
    corpus_zero(g, SIZE);
    __enzyme_autodiff((void *)filter_bank, enzyme_dup, x, g, enzyme_const, COUNT, enzyme_dup, x + COUNT, g + COUNT,
                      enzyme_const, BANK, enzyme_const, TAPS);
}

static const struct corpus_problem problem = {
    .name = "aligned_buffers",
    .size = SIZE,
    .point = point,
    .setup = setup,
    .value = value,
    .tangent = tangent,
    .gradient = gradient,
};

CORPUS_MAIN(&problem)
