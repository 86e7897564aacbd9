// A recurrent map h <- tanh(W h + b / n) whose sums are written to memory that may overlap the state, and often does:
//
//   for t:  for g < m:  s_g = sum_j w_gj h_j + b_j h_j^2 / 2;   then h_j <- tanh(s_{j mod m}) / 2 + h_j / 4
//
// with s apart from h, s = h (each sum changes what the next one reads), s in the upper half of h, and rows of b that are read
// in each iteration of a nest and written between its entries. loss = sum h^2 + sum s^2.
// Source: Elman, "Finding structure in time", Cognitive Science 14 (1990), for the map.
#include "corpus.h"

enum { H = 6, M = 5, STEPS = CORPUS_SIZE(7, 2), SIZE = 2 * H + M * H + H };

__attribute__((noinline)) static double run(double *h, double *s, const double *w, double *b, int n, int m, int steps)
{
    double loss = 0.0;
    for (int t = 0; t < steps; t++) {
        for (int g = 0; g < m; g++) {
            double sum = 0.0;
            for (int j = 0; j < n; j++)
                sum += w[g * n + j] * h[j] + 0.5 * b[j] * h[j] * h[j];
            s[g] = sum;
        }
        for (int j = 0; j < n; j++)
            h[j] = 0.5 * tanh(s[j % m]) + 0.25 * h[j];
        for (int j = 0; j < n; j++) {
            // One element of b, the same for a whole row.
            for (int k = 0; k < m; k++)
                loss += 0.01 * b[j] * b[j] * s[k];
            b[j] *= 0.9 + 0.01 * h[j];
        }
    }
    for (int j = 0; j < n; j++)
        loss += h[j] * h[j];
    for (int g = 0; g < m; g++)
        loss += s[g] * s[g];
    return loss;
}

static double point[SIZE], work[SIZE], shadow[SIZE];

// Where the sums go: behind the state, onto it, into its upper half, one element below it.
static const int places[] = {H, 0, H / 2, 1};

static void setup(void)
{
    corpus_seed(77);
    corpus_fill(point, SIZE, -0.8, 0.8);
}

static double value(const double *x)
{
    double total = 0.0;
    for (size_t i = 0; i < CORPUS_COUNT(places); i++) {
        corpus_copy(work, x, SIZE);
        total += run(work, work + places[i], work + 2 * H, work + 2 * H + M * H, H, M, STEPS);
    }
    return total;
}

static double tangent(const double *x, const double *v)
{
    double total = 0.0;
    for (size_t i = 0; i < CORPUS_COUNT(places); i++) {
        int at = places[i];
        corpus_copy(work, x, SIZE);
        corpus_copy(shadow, v, SIZE);
        total += __enzyme_fwddiff((void *)run, enzyme_dup, work, shadow, enzyme_dup, work + at, shadow + at, enzyme_dup,
                                  work + 2 * H, shadow + 2 * H, enzyme_dup, work + 2 * H + M * H,
                                  shadow + 2 * H + M * H, enzyme_const, H, enzyme_const, M, enzyme_const, STEPS);
    }
    return total;
}

static void gradient(const double *x, double *g)
{
    corpus_zero(g, SIZE);
    for (size_t i = 0; i < CORPUS_COUNT(places); i++) {
        int at = places[i];
        corpus_copy(work, x, SIZE);
        corpus_zero(shadow, SIZE);
        __enzyme_autodiff((void *)run, enzyme_dup, work, shadow, enzyme_dup, work + at, shadow + at, enzyme_dup,
                          work + 2 * H, shadow + 2 * H, enzyme_dup, work + 2 * H + M * H, shadow + 2 * H + M * H,
                          enzyme_const, H, enzyme_const, M, enzyme_const, STEPS);
        for (int k = 0; k < SIZE; k++)
            g[k] += shadow[k];
    }
}

static const struct corpus_problem problem = {
    .name = "overlapping_rows",
    .size = SIZE,
    .point = point,
    .setup = setup,
    .value = value,
    .tangent = tangent,
    .gradient = gradient,
};

CORPUS_MAIN(&problem)
