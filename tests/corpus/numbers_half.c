// Half precision: a small network whose weights and activations are 16 bits wide and whose sums are floats.
#include "corpus.h"

enum { WIDTH = 6, SIZE = WIDTH * WIDTH };

static double network(const double *x, int n)
{
    _Float16 weights[SIZE], layer[WIDTH];
    for (int i = 0; i < n; i++)
        weights[i] = (_Float16)x[i];
    for (int i = 0; i < WIDTH; i++)
        layer[i] = (_Float16)(0.25f * (float)(i + 1));
    for (int pass = 0; pass < 2; pass++) {
        _Float16 next[WIDTH];
        for (int i = 0; i < WIDTH; i++) {
            float sum = 0.0f;
            for (int j = 0; j < WIDTH; j++)
                sum += (float)weights[i * WIDTH + j] * (float)layer[j];
            _Float16 product = (_Float16)sum * weights[i];
            next[i] = (_Float16)tanhf((float)product);
        }
        for (int i = 0; i < WIDTH; i++)
            layer[i] = next[i] + (_Float16)0.125f;
    }
    float loss = 0.0f;
    for (int i = 0; i < WIDTH; i++)
        loss += (float)layer[i] * (float)layer[i] * (float)(i + 1);
    return loss;
}

static double point[SIZE];

static void setup(void)
{
    corpus_seed(7);
    corpus_fill(point, SIZE, -0.5, 0.5);
}

static double value(const double *x)
{
    return network(x, SIZE);
}

static double tangent(const double *x, const double *v)
{
    return __enzyme_fwddiff((void *)network, enzyme_dup, x, v, enzyme_const, SIZE);
}

static void gradient(const double *x, double *g)
{
    corpus_zero(g, SIZE);
    __enzyme_autodiff((void *)network, enzyme_dup, x, g, enzyme_const, SIZE);
}

static const struct corpus_problem problem = {
    .name = "numbers_half",
    .size = SIZE,
    .point = point,
    .setup = setup,
    .value = value,
    .tangent = tangent,
    .gradient = gradient,
    // Half has eleven bits: differences see steps of rounding.
    .step = 0.5,
    .fd_tolerance = 0.25,
    .dot_tolerance = 0.05,
};

CORPUS_MAIN(&problem)
