// Poisson's equation in one dimension with variable coefficient by V-cycles: recursive, each level's vectors on the
// heap, weighted Jacobi smoothing, full weighting, linear interpolation. Active: source and log-coefficient.
// Source: Briggs, Henson, McCormick, "A Multigrid Tutorial", chapter 3.
#include "corpus.h"

static void residual(const double *k, const double *u, const double *f, double *r, int n, double h)
{
    r[0] = r[n] = 0.0;
    for (int i = 1; i < n; i++)
        r[i] = f[i] - (k[i - 1] * (u[i] - u[i - 1]) - k[i] * (u[i + 1] - u[i])) / (h * h);
}

static void smooth(const double *k, double *u, const double *f, double *work, int n, double h, int sweeps)
{
    while (sweeps-- > 0) {
        residual(k, u, f, work, n, h);
        for (int i = 1; i < n; i++)
            u[i] += 2.0 / 3.0 * work[i] * h * h / (k[i - 1] + k[i]);
    }
}

// k[i] belongs to the interval (i, i+1).
static void v_cycle(const double *k, double *u, const double *f, int n, double h)
{
    double *r = malloc(sizeof(double) * (size_t)(n + 1));
    if (n <= 2) {
        u[1] = f[1] * h * h / (k[0] + k[1]);
        free(r);
        return;
    }
    smooth(k, u, f, r, n, h, 2);
    residual(k, u, f, r, n, h);
    int m = n / 2;
    double *coarse = calloc((size_t)(3 * (m + 1)), sizeof(double));
    double *ck = coarse, *cu = coarse + m + 1, *cf = coarse + 2 * (m + 1);
    for (int i = 0; i < m; i++)
        ck[i] = 2.0 / (1.0 / k[2 * i] + 1.0 / k[2 * i + 1]);
    for (int i = 1; i < m; i++)
        cf[i] = 0.25 * r[2 * i - 1] + 0.5 * r[2 * i] + 0.25 * r[2 * i + 1];
    v_cycle(ck, cu, cf, m, 2.0 * h);
    for (int i = 0; i < m; i++) {
        u[2 * i] += cu[i];
        u[2 * i + 1] += 0.5 * (cu[i] + cu[i + 1]);
    }
    free(coarse);
    smooth(k, u, f, r, n, h, 2);
    free(r);
}

static double poisson_loss(const double *log_k, const double *source, int n, int cycles)
{
    double *k = malloc(sizeof(double) * (size_t)n), *u = calloc((size_t)(n + 1), sizeof(double)), loss = 0.0;
    for (int i = 0; i < n; i++)
        k[i] = exp(log_k[i]);
    for (int c = 0; c < cycles; c++)
        v_cycle(k, u, source, n, 1.0 / n);
    for (int i = 1; i < n; i++)
        loss += u[i] * u[i] + 0.1 * fabs(u[i] - 0.05) * u[i];
    free(u);
    free(k);
    return loss / n;
}

enum { N = CORPUS_SIZE(64, 8), CYCLES = CORPUS_SIZE(5, 2), SIZE = 2 * N + 1 };

static double point[SIZE];

static void setup(void)
{
    corpus_seed(145);
    corpus_fill(point, N, -0.4, 0.4);
    corpus_fill(point + N, N + 1, 0.5, 2.0);
}

static double value(const double *x)
{
    return poisson_loss(x, x + N, N, CYCLES);
}

static double tangent(const double *x, const double *v)
{
    return __enzyme_fwddiff((void *)poisson_loss, enzyme_dup, x, v, enzyme_dup, x + N, v + N, enzyme_const, N,
                            enzyme_const, CYCLES);
}

static void gradient(const double *x, double *g)
{
    corpus_zero(g, SIZE);
    __enzyme_autodiff((void *)poisson_loss, enzyme_dup, x, g, enzyme_dup, x + N, g + N, enzyme_const, N, enzyme_const,
                      CYCLES);
}

static const struct corpus_problem problem = {
    .name = "multigrid",
    .size = SIZE,
    .point = point,
    .setup = setup,
    .value = value,
    .tangent = tangent,
    .gradient = gradient,
    .step = 0x1p-12, // no u crosses 0.05
};

CORPUS_MAIN(&problem)
