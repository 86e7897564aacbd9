// corpus: valgrind
// One work space for everything, as Fortran programmers hand it round: the same allocated bytes hold distances
// (doubles), then an ordering (ints), then float weights, then doubles again. Kernel regression with the nearest
// neighbours. In C a store gives allocated memory its type, so this is legal.
// Source: Nadaraya, Theory Prob. Appl. 9 (1964).
#include "corpus.h"

static double regression_loss(const double *points, const double *values, int count, const double *queries, int asked,
                              int nearest)
{
    void *work = malloc(sizeof(double) * (size_t)count);
    double loss = 0.0, scale = 0.0, *distance = work;
    int chosen[8];
    for (int i = 0; i < count; i++)
        distance[i] = points[2 * i] * points[2 * i] + points[2 * i + 1] * points[2 * i + 1];
    for (int i = 0; i < count; i++)
        scale += distance[i] * distance[i] / count;
    for (int q = 0; q < asked; q++) {
        const double *query = queries + 2 * q;
        double total = 0.0, estimate = 0.0;
        int *index = work;
        for (int i = 0; i < count; i++) {
            double dx = points[2 * i] - query[0], dy = points[2 * i + 1] - query[1], here = dx * dx + dy * dy;
            int j = i;
            for (; j > 0; j--) {
                double ex = points[2 * index[j - 1]] - query[0], ey = points[2 * index[j - 1] + 1] - query[1];
                if (ex * ex + ey * ey <= here)
                    break;
                index[j] = index[j - 1];
            }
            index[j] = i;
        }
        memcpy(chosen, work, sizeof(int) * (size_t)nearest);
        float *weight = work;
        for (int k = 0; k < nearest; k++)
            weight[k] = 1.0f / (float)(1 + k);
        for (int k = 0; k < nearest; k++)
            total += weight[k];
        double kernel[8];
        for (int k = 0; k < nearest; k++) {
            double dx = points[2 * chosen[k]] - query[0], dy = points[2 * chosen[k] + 1] - query[1];
            kernel[k] = exp(-(dx * dx + dy * dy) / scale);
        }
        for (int k = 0; k < nearest; k++)
            estimate += kernel[k] * values[chosen[k]] / total;
        loss += (estimate - 1.0) * (estimate - 1.0);
    }
    free(work);
    return loss;
}

enum { COUNT = CORPUS_SIZE(30, 6), ASKED = CORPUS_SIZE(8, 2), NEAREST = 5, SIZE = 3 * COUNT };

static double point[SIZE], queries[2 * ASKED];

static void setup(void)
{
    corpus_seed(220);
    corpus_fill(point, SIZE, -1.0, 1.0);
    corpus_fill(queries, 2 * ASKED, -1.0, 1.0);
}

static double value(const double *x)
{
    return regression_loss(x, x + 2 * COUNT, COUNT, queries, ASKED, NEAREST);
}

static double tangent(const double *x, const double *v)
{
    return __enzyme_fwddiff((void *)regression_loss, enzyme_dup, x, v, enzyme_dup, x + 2 * COUNT, v + 2 * COUNT,
                            enzyme_const, COUNT, enzyme_const, queries, enzyme_const, ASKED, enzyme_const, NEAREST);
}

static void gradient(const double *x, double *g)
{
    corpus_zero(g, SIZE);
    __enzyme_autodiff((void *)regression_loss, enzyme_dup, x, g, enzyme_dup, x + 2 * COUNT, g + 2 * COUNT, enzyme_const,
                      COUNT, enzyme_const, queries, enzyme_const, ASKED, enzyme_const, NEAREST);
}

static const struct corpus_problem problem = {
    .name = "shared_workspace",
    .size = SIZE,
    .point = point,
    .setup = setup,
    .value = value,
    .tangent = tangent,
    .gradient = gradient,
    .step = 0x1p-20, // the same neighbours
    .fd_tolerance = 1e-5, // rounding over a small step
};

CORPUS_MAIN(&problem)
