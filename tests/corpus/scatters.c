// Stencils, whose adjoints scatter: each cell adds to its neighbours. In one dimension and in two, upwards and downwards, from one
// array to another, within one array, and between parts of one array that overlap for some lengths and not for others; with loops
// shorter and longer than the strips into which a derivative splits them.
//
//   smoothing with products (three points), a nine-point stencil on a grid with a halo, differences, a stencil whose target lies
//   before, upon or behind its source, a sweep downwards that also sums up, in single precision, every other cell
//
// loss = sum b^2 / 2 + what the sweeps return.
// Source: LeVeque, "Finite Difference Methods for Ordinary and Partial Differential Equations", section 9.7.
#include "corpus.h"

enum { CELLS = CORPUS_SIZE(300, 24), ROW = CORPUS_SIZE(17, 4), GRID = ROW * ROW, COUNT = 2 * CELLS };

__attribute__((noinline)) static void smooth(const double *a, double *b, int from, int to)
{
    for (int i = from; i < to; i++)
        b[i] = 0.2 * a[i - 1] * a[i + 1] + 0.5 * a[i] - 0.1 * a[i + 1] * b[i];
}

__attribute__((noinline)) static double downwards(const double *a, double *b, int from, int to)
{
    double sum = 0.0;
    for (int i = to - 1; i >= from; i--) {
        double flux = 0.3 * (a[i + 1] - a[i]) * a[i - 1];
        b[i] += flux - 0.2 * a[i];
        sum += flux * a[i];
    }
    return sum;
}

__attribute__((noinline)) static void nine_points(const double *restrict a, double *restrict b, const double *restrict weight)
{
    for (int i = 1; i < ROW - 1; i++)
        for (int j = 1; j < ROW - 1; j++) {
            const double *at = a + i * ROW + j;
            double cross = at[-ROW] + at[ROW] + at[-1] + at[1];
            double corners = at[-ROW - 1] + at[-ROW + 1] + at[ROW - 1] + at[ROW + 1];
            b[i * ROW + j] = at[0] + weight[j] * (4.0 * cross + corners - 20.0 * at[0]);
        }
}

__attribute__((noinline)) static void in_place(double *u, int from, int to)
{
    for (int i = from; i < to; i++)
        u[i] = 0.4 * u[i - 1] + 0.4 * u[i + 1] * u[i];
}

__attribute__((noinline)) static void single(const float *a, float *b, int from, int to)
{
    for (int i = from; i < to; i++)
        b[i] = 0.25f * a[i - 1] + 0.5f * a[i] + 0.25f * a[i + 1];
}

__attribute__((noinline)) static void every_other(const double *a, double *b, int from, int to)
{
    for (int i = from; i < to; i += 2)
        b[i] += 0.1 * a[i - 2] * a[i + 2] - 0.2 * a[i];
}

static double run(double *a, double *b, int n)
{
    double loss = 0.0;
    const int lengths[] = {1, 5, 12, 13, 64, 65, 128, n - 2};
    for (int k = 0; k < (int)CORPUS_COUNT(lengths); k++) {
        int to = lengths[k] < n - 2 ? 1 + lengths[k] : n - 1;
        smooth(a, b, 1, to);
        loss += downwards(b, a, 1, to);
    }
    for (int shift = -2; shift <= 2; shift++)
        smooth(a + 4, a + 4 + shift, 1, n - 8);
    smooth(a, a + n / 2, 1, n / 2 - 1);
    loss += downwards(b + n / 2, b, 1, n / 2 - 1);
    loss += downwards(b + n / 2, b, 1, n / 2 + 3 < n - 1 ? n / 2 - 1 : 1);
    nine_points(a, b, a + GRID / 2);
    in_place(b, 1, n - 1);
    every_other(a, b, 2, n - 2);
    for (int i = 0; i < n; i++)
        loss += 0.5 * b[i] * b[i] + 0.5 * a[i] * a[i];
    return loss;
}

static double point[COUNT], work[COUNT];

static void setup(void)
{
    corpus_seed(97);
    corpus_fill(point, COUNT, -0.8, 0.8);
}

static double value(const double *x)
{
    corpus_copy(work, x, COUNT);
    return run(work, work + CELLS, CELLS);
}

static double tangent(const double *x, const double *v)
{
    double shadow[COUNT];
    corpus_copy(work, x, COUNT);
    corpus_copy(shadow, v, COUNT);
    return __enzyme_fwddiff((void *)run, enzyme_dup, work, shadow, enzyme_dup, work + CELLS, shadow + CELLS, enzyme_const,
                            CELLS);
}

static void gradient(const double *x, double *g)
{
    corpus_copy(work, x, COUNT);
    corpus_zero(g, COUNT);
    __enzyme_autodiff((void *)run, enzyme_dup, work, g, enzyme_dup, work + CELLS, g + CELLS, enzyme_const, CELLS);
}

// Linear, and its weights are powers of two: what whole numbers become is exact.
static int extra(void)
{
    static float a[CELLS], b[CELLS], a_shadow[CELLS], b_shadow[CELLS];
    double wrong = 0.0;
    for (int i = 0; i < CELLS; i++)
        b_shadow[i] = (float)(i * i % 7);
    __enzyme_autodiff_void((void *)single, enzyme_dup, a, a_shadow, enzyme_dup, b, b_shadow, enzyme_const, 1, enzyme_const,
                           CELLS - 1);
    for (int j = 0; j < CELLS; j++) {
        double sum = 0.0;
        for (int i = j - 1; i <= j + 1; i++)
            sum += i < 1 || i >= CELLS - 1 ? 0.0 : (i == j ? 0.5 : 0.25) * (i * i % 7);
        wrong = fmax(wrong, fabs(sum - (double)a_shadow[j]));
    }
    return corpus_check("single", "precision", wrong, 0.0);
}

static const struct corpus_problem problem = {
    .name = "scatters",
    .size = COUNT,
    .point = point,
    .setup = setup,
    .value = value,
    .tangent = tangent,
    .gradient = gradient,
    .extra = extra,
};

CORPUS_MAIN(&problem)
