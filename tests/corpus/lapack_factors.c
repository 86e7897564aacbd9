// corpus: native
// Orthogonal factors, least squares, inverses of triangles and norms by LAPACK, by the names of Fortran.
//
//   A = Q R, |R|^2 + sum c_i (Q^T C)_i (D Q)_i + sum c_i Q_i; x = argmin |A x - b|, min |x| for A x = b, and both of A^T;
//   |U^-1|^2 + |(L L^T)^-1|^2; the largest sum of a row and of a column, the largest element, |A|
//
// Source: LAPACK Users' Guide, 1999.
#include "corpus.h"

#include <lapacke.h>

enum { MOST = 12, ROOM = 64 * MOST, COUNT = 20 };

static double point[COUNT];

static void setup(void)
{
    corpus_seed(8);
    corpus_fill(point, COUNT, 0.2, 1.0);
}

static void matrix_of(const double *x, int m, int n, double *a)
{
    for (int j = 0; j < n; j++)
        for (int i = 0; i < m; i++)
            a[i + j * m] = sin(1.0 + i * j + i) + x[(i + 3 * j) % COUNT] + (i == j ? 4.0 : 0.0);
}

static double weighed(const double *a, int n)
{
    double sum = 0.0;
    for (int i = 0; i < n; i++)
        sum += a[i] * (i % 7);
    return sum;
}

static double orthogonal(const double *x, int m, int n)
{
    double a[MOST * MOST], c[MOST * MOST], d[MOST * MOST], tau[MOST], work[ROOM];
    int k = m < n ? m : n, room = ROOM, info;
    matrix_of(x, m, n, a);
    matrix_of(x, m, n, c);
    matrix_of(x, n, m, d);
    LAPACK_dgeqrf(&m, &n, a, &m, tau, work, &room, &info);
    double sum = 0.0;
    for (int j = 0; j < n; j++)
        for (int i = 0; i <= j && i < m; i++)
            sum += a[i + j * m] * a[i + j * m] * (i + 1);
    LAPACK_dormqr("L", "T", &m, &n, &k, a, &m, tau, c, &m, work, &room, &info);
    LAPACK_dormqr("R", "N", &n, &m, &k, a, &m, tau, d, &n, work, &room, &info);
    for (int i = 0; i < m * n; i++)
        sum += c[i] * d[i] * (i % 5);
    LAPACK_dorgqr(&m, &k, &k, a, &m, tau, work, &room, &info);
    return sum + weighed(a, m * k);
}

static double least_squares(const double *x, int m, int n, char trans)
{
    double a[MOST * MOST], b[2 * MOST], work[ROOM];
    int sides = 2, most = MOST, room = ROOM, info;
    matrix_of(x, m, n, a);
    for (int i = 0; i < 2 * MOST; i++)
        b[i] = x[i % 10] + cos(i);
    LAPACK_dgels(&trans, &m, &n, &sides, a, &m, b, &most, work, &room, &info);
    int found = trans == 'N' ? n : m;
    return weighed(b, found) + weighed(b + MOST, found);
}

static double inverses(const double *x, int n, char uplo, char diag)
{
    double a[MOST * MOST], work[ROOM], sum = 0.0;
    int info;
    matrix_of(x, n, n, a);
    for (const char *norm = "1IMF"; *norm; norm++)
        sum += LAPACK_dlange(norm, &n, &n, a, &n, work);
    LAPACK_dtrtri(&uplo, &diag, &n, a, &n, &info);
    sum += weighed(a, n * n);
    for (int j = 0; j < n; j++)
        for (int i = 0; i < n; i++)
            a[i + j * n] = 0.2 * x[(i * j) % COUNT] + (i == j ? 5.0 : 0.0);
    LAPACK_dpotrf(&uplo, &n, a, &n, &info);
    LAPACK_dpotri(&uplo, &n, a, &n, &info);
    return sum + 10.0 * weighed(a, n * n);
}

static double all(const double *x)
{
    return orthogonal(x, 9, 5) + orthogonal(x, 5, 9) + orthogonal(x, MOST, MOST) + least_squares(x, 9, 4, 'N') +
           least_squares(x, 9, 4, 'T') + least_squares(x, 4, 9, 'N') + least_squares(x, 4, 9, 'T') +
           inverses(x, 8, 'U', 'N') + inverses(x, 8, 'L', 'N') + 0.01 * inverses(x, 5, 'U', 'U') +
           0.01 * inverses(x, 5, 'L', 'U');
}

static double tangent(const double *x, const double *v) { return __enzyme_fwddiff((void *)all, enzyme_dup, x, v); }

static void gradient(const double *x, double *g)
{
    corpus_zero(g, COUNT);
    __enzyme_autodiff((void *)all, enzyme_dup, x, g);
}

static const struct corpus_problem problem = {
    .name = "lapack_factors",
    .size = COUNT,
    .point = point,
    .setup = setup,
    .value = all,
    .tangent = tangent,
    .gradient = gradient,
};

CORPUS_MAIN(&problem)
