// corpus: native
// What LAPACK solves: the likelihood of a Gaussian process by its Cholesky factor, general systems with exchanged rows,
// inverses, tridiagonal systems; by the names of Fortran and of LAPACKE, in columns and in rows.
//
//   loss = y^T K^-1 y + log det K + |A^-1 b|^2 + |A^-T b|^2 + |A^-1|^2 + |T^-1 b|^2
//
// Sources: Rasmussen, Williams, "Gaussian Processes for Machine Learning", 2006, algorithm 2.1; LAPACK Users' Guide,
// 1999.
#include "corpus.h"

#include <lapacke.h>

enum { N = 35, SIDES = 2, COUNT = 40 };

static double point[COUNT];

static void setup(void)
{
    corpus_seed(3);
    corpus_fill(point, COUNT, 0.2, 1.0);
}

#define MATRIX(a, i, j) a[(i) + (j) * n]

// The points of the process are x, its scale and noise the last two.
static double process(const double *x, int n, char uplo)
{
    double k[N * N], y[N];
    int one = 1, info;
    for (int j = 0; j < n; j++) {
        y[j] = sin(3.0 * x[j]) + 0.1 * j;
        for (int i = 0; i < n; i++) {
            double d = (x[i] - x[j]) / (0.1 + x[COUNT - 2]);
            MATRIX(k, i, j) = exp(-0.5 * d * d) + (i == j ? 0.1 + x[COUNT - 1] : 0.0);
        }
    }
    double first[N];
    for (int j = 0; j < n; j++)
        first[j] = y[j];
    LAPACK_dpotrf(&uplo, &n, k, &n, &info);
    if (info)
        return 0.0;
    LAPACK_dpotrs(&uplo, &n, &one, k, &n, y, &n, &info);
    LAPACK_dtrtrs(&uplo, "T", "N", &n, &one, k, &n, first, &n, &info);
    double sum = 0.0;
    for (int j = 0; j < n; j++)
        sum += sin(3.0 * x[j]) * y[j] + 2.0 * log(MATRIX(k, j, j)) + first[j] * first[j];
    return sum;
}

static void system_of(const double *x, int n, double *a, double *b)
{
    for (int j = 0; j < n; j++)
        for (int i = 0; i < n; i++)
            MATRIX(a, i, j) = sin(1.0 + i * j) + x[(i + 3 * j) % COUNT] + ((i + 1) % n == j ? 3.0 : 0.0);
    for (int i = 0; i < SIDES * n; i++)
        b[i] = x[i % COUNT] * x[(5 * i) % COUNT];
}

static double squares(const double *v, int n)
{
    double sum = 0.0;
    for (int i = 0; i < n; i++)
        sum += v[i] * v[i];
    return sum;
}

static double systems(const double *x, int n)
{
    double a[N * N], b[N * SIDES], c[N * SIDES], work[N * N];
    int pivots[N], sides = SIDES, room = N * N, info;
    system_of(x, n, a, b);
    LAPACK_dgesv(&n, &sides, a, &n, pivots, b, &n, &info);
    double sum = squares(b, n * sides);
    system_of(x, n, a, c);
    LAPACK_dgetrf(&n, &n, a, &n, pivots, &info);
    LAPACK_dgetrs("T", &n, &sides, a, &n, pivots, c, &n, &info);
    LAPACK_dgetri(&n, a, &n, pivots, work, &room, &info);
    return sum + squares(c, n * sides) + 0.1 * squares(a, n * n);
}

static double by_lapacke(const double *x, int n, int order)
{
    double a[N * N], b[N * SIDES], below[N * SIDES], on[N], above[N];
    int pivots[N], ld = order == LAPACK_ROW_MAJOR ? SIDES : n;
    system_of(x, n, a, b);
    LAPACKE_dgetrf(order, n, n, a, n, pivots);
    LAPACKE_dgetrs(order, 'N', n, SIDES, a, n, pivots, b, ld);
    double sum = squares(b, n * SIDES);
    for (int i = 0; i < n; i++) {
        below[i] = (i % 3 ? -1.0 : -4.0) + x[i];
        on[i] = 2.0 + x[(i + 1) % COUNT];
        above[i] = -1.0 + 0.3 * x[(i + 7) % COUNT];
    }
    LAPACKE_dgtsv(order, n, SIDES, below, on, above, b, ld);
    system_of(x, n, a, below);
    for (int j = 0; j < n; j++)
        for (int i = 0; i <= j; i++)
            MATRIX(a, i, j) = MATRIX(a, j, i) = 0.1 * x[(i * j) % COUNT] + (i == j ? 5.0 : 0.0);
    LAPACKE_dposv(order, order == LAPACK_ROW_MAJOR ? 'U' : 'L', n, SIDES, a, n, b, ld);
    return sum + squares(b, n * SIDES);
}

static double all(const double *x)
{
    return process(x, 20, 'L') + process(x, 12, 'U') + systems(x, N) + systems(x, 7) +
           by_lapacke(x, 20, LAPACK_ROW_MAJOR) + by_lapacke(x, 9, LAPACK_COL_MAJOR);
}

static double tangent(const double *x, const double *v) { return __enzyme_fwddiff((void *)all, enzyme_dup, x, v); }

static void gradient(const double *x, double *g)
{
    corpus_zero(g, COUNT);
    __enzyme_autodiff((void *)all, enzyme_dup, x, g);
}

static const struct corpus_problem problem = {
    .name = "lapack_solvers",
    .size = COUNT,
    .point = point,
    .setup = setup,
    .value = all,
    .tangent = tangent,
    .gradient = gradient,
};

CORPUS_MAIN(&problem)
