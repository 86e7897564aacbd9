// Dynamic time warping of two series: a table of rows allocated one by one, the smallest of three predecessors with the
// remembered step in a char table, the path traced back for a penalty. Active: both series. Loss = cost + path penalty.
// Source: Sakoe, Chiba, IEEE Trans. ASSP 26 (1978).
#include "corpus.h"

static double warp(const double *a, int n, const double *b, int m, int window)
{
    double **cost = malloc(sizeof(double *) * (size_t)(n + 1)), result;
    char **step = malloc(sizeof(char *) * (size_t)(n + 1));
    for (int i = 0; i <= n; i++) {
        cost[i] = malloc(sizeof(double) * (size_t)(m + 1));
        step[i] = malloc((size_t)(m + 1));
        for (int j = 0; j <= m; j++)
            cost[i][j] = 1e9;
    }
    cost[0][0] = 0.0;
    for (int i = 1; i <= n; i++) {
        int low = i > window ? i - window : 1, high = i + window < m ? i + window : m;
        for (int j = low; j <= high; j++) {
            double d = (a[i - 1] - b[j - 1]) * (a[i - 1] - b[j - 1]), best = cost[i - 1][j - 1];
            step[i][j] = 'd';
            if (cost[i - 1][j] < best) {
                best = cost[i - 1][j];
                step[i][j] = 'u';
            }
            if (cost[i][j - 1] < best) {
                best = cost[i][j - 1];
                step[i][j] = 'l';
            }
            cost[i][j] = best + d;
        }
    }
    result = cost[n][m];
    for (int i = n, j = m; i > 0 && j > 0;) {
        result += 0.05 * a[i - 1] * b[j - 1];
        switch (step[i][j]) {
        case 'd':
            i--, j--;
            break;
        case 'u':
            i--;
            break;
        default:
            j--;
        }
    }
    for (int i = 0; i <= n; i++) {
        free(cost[i]);
        free(step[i]);
    }
    free(cost);
    free(step);
    return result;
}

enum { N = CORPUS_SIZE(40, 6), M = CORPUS_SIZE(36, 5), SIZE = N + M };

static double point[SIZE];

static void setup(void)
{
    corpus_seed(202);
    for (int i = 0; i < SIZE; i++)
        point[i] = sin(0.3 * (i % N)) + corpus_uniform(-0.3, 0.3);
}

static double value(const double *x)
{
    return warp(x, N, x + N, M, CORPUS_SIZE(10, 3));
}

static double tangent(const double *x, const double *v)
{
    return __enzyme_fwddiff((void *)warp, enzyme_dup, x, v, enzyme_const, N, enzyme_dup, x + N, v + N, enzyme_const, M,
                            enzyme_const, CORPUS_SIZE(10, 3));
}

static void gradient(const double *x, double *g)
{
    corpus_zero(g, SIZE);
    __enzyme_autodiff((void *)warp, enzyme_dup, x, g, enzyme_const, N, enzyme_dup, x + N, g + N, enzyme_const, M,
                      enzyme_const, CORPUS_SIZE(10, 3));
}

static const struct corpus_problem problem = {
    .name = "warping",
    .size = SIZE,
    .point = point,
    .setup = setup,
    .value = value,
    .tangent = tangent,
    .gradient = gradient,
    .step = 0x1p-22, // the path stays the same
    .fd_tolerance = 1e-5, // rounding over a small step
};

CORPUS_MAIN(&problem)
