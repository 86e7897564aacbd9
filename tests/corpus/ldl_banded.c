// Smoothing a series by a penalty on second differences (Whittaker, Hodrick-Prescott): the banded system
// (W + lambda D^T D) z = W y by LDL^T in band storage. Active: series, weights, log lambda. Loss = generalised misfit.
// Source: Eilers, "A perfect smoother", Anal. Chem. 75 (2003).
#include "corpus.h"

enum { BAND = 3 };

static void ldl(double (*band)[BAND], int n)
{
    for (int j = 0; j < n; j++) {
        for (int k = j > BAND - 1 ? j - BAND + 1 : 0; k < j; k++) {
            double scaled = band[k][j - k] * band[k][0];
            for (int i = j; i < n && i - k < BAND; i++)
                band[j][i - j] -= scaled * band[k][i - k];
        }
        for (int i = 1; i < BAND && i + j < n; i++)
            band[j][i] /= band[j][0];
    }
}

static void solve(double (*band)[BAND], int n, double *z)
{
    for (int j = 0; j < n; j++)
        for (int i = 1; i < BAND && i + j < n; i++)
            z[i + j] -= band[j][i] * z[j];
    for (int j = n - 1; j >= 0; j--) {
        z[j] /= band[j][0];
        for (int i = 1; i < BAND && i + j < n; i++)
            z[j] -= band[j][i] * z[i + j];
    }
}

static double smoother_loss(const double *y, const double *w, const double *log_lambda, const double *truth, int n)
{
    double (*band)[BAND] = calloc((size_t)n, sizeof(*band));
    double *z = malloc((size_t)n * sizeof(double));
    double lambda = exp(*log_lambda), loss = 0.0;
    static const double stencil[3] = {1.0, -2.0, 1.0};
    for (int i = 0; i < n; i++) {
        band[i][0] = w[i];
        z[i] = w[i] * y[i];
    }
    for (int row = 0; row + 2 < n; row++)
        for (int a = 0; a < 3; a++)
            for (int b = a; b < 3; b++)
                band[row + a][b - a] += lambda * stencil[a] * stencil[b];
    ldl(band, n);
    solve(band, n, z);
    for (int i = 0; i < n; i++)
        loss += (z[i] - truth[i]) * (z[i] - truth[i]);
    for (int i = 0; i < n; i++)
        loss += 0.01 * log(band[i][0]);
    free(z);
    free(band);
    return loss;
}

enum { N = CORPUS_SIZE(80, 6), SIZE = 2 * N + 1 };

static double point[SIZE], truth[N];

static void setup(void)
{
    corpus_seed(143);
    for (int i = 0; i < N; i++) {
        truth[i] = sin(6.0 * i / N);
        point[i] = truth[i] + corpus_uniform(-0.3, 0.3);
    }
    corpus_fill(point + N, N, 0.5, 1.5);
    point[2 * N] = 1.5;
}

static double value(const double *x)
{
    return smoother_loss(x, x + N, x + 2 * N, truth, N);
}

static double tangent(const double *x, const double *v)
{
    return __enzyme_fwddiff((void *)smoother_loss, enzyme_dup, x, v, enzyme_dup, x + N, v + N, enzyme_dup, x + 2 * N,
                            v + 2 * N, enzyme_const, truth, enzyme_const, N);
}

static void gradient(const double *x, double *g)
{
    corpus_zero(g, SIZE);
    __enzyme_autodiff((void *)smoother_loss, enzyme_dup, x, g, enzyme_dup, x + N, g + N, enzyme_dup, x + 2 * N,
                      g + 2 * N, enzyme_const, truth, enzyme_const, N);
}

static const struct corpus_problem problem = {
    .name = "ldl_banded",
    .size = SIZE,
    .point = point,
    .setup = setup,
    .value = value,
    .tangent = tangent,
    .gradient = gradient,
};

CORPUS_MAIN(&problem)
