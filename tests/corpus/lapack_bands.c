// corpus: native
// Matrices in bands, condition numbers, expert drivers and least squares by singular values, by LAPACK.
//
//   A x = b with A in a band, by Cholesky's factor of both halves and by L U, and by A^T; 1 / cond(A) of full matrices,
//   triangles and bands, by both norms; x of A x = b, A^T x = b by drivers that say how good it is; argmin |A x - b|
//
// Source: LAPACK Users' Guide, 1999.
#include "corpus.h"

#include <lapacke.h>

enum { MOST = 9, ROOM = 64 * MOST, COUNT = 16 };

static double point[COUNT];

static void setup(void)
{
    corpus_seed(32);
    corpus_fill(point, COUNT, 0.2, 1.0);
}

static double weighed(const double *a, int n)
{
    double sum = 0.0;
    for (int i = 0; i < n; i++)
        sum += a[i] * (i % 7 + 1);
    return sum;
}

// Without a diagonal that rules, so that rows are exchanged.
static double element(const double *x, int i, int j)
{
    return sin(3.0 * i + 5.0 * j) + x[(i + 3 * j) % COUNT] + (j == i + 1 ? 3.0 : 0.0);
}

static double definite(const double *x, int i, int j)
{
    return i == j ? 5.0 + x[i % COUNT] : x[(i + j) % COUNT] * cos(i * j);
}

static void sides_of(const double *x, int n, double *b)
{
    for (int i = 0; i < 2 * n; i++)
        b[i] = x[i % 10] + cos(i);
}

static double banded(const double *x, int n, int side, char half)
{
    double a[MOST * MOST] = {0.0}, b[2 * MOST], work[ROOM], rcond;
    int rows = side + 1, sides = 2, wholes[MOST], info, up = half == 'U';
    for (int j = 0; j < n; j++)
        for (int i = up ? 0 : j; i < (up ? j + 1 : n); i++)
            if ((up ? j - i : i - j) <= side)
                a[(up ? side : 0) + i - j + j * rows] = definite(x, i, j);
    sides_of(x, n, b);
    LAPACK_dpbtrf(&half, &n, &side, a, &rows, &info);
    LAPACK_dpbtrs(&half, &n, &side, &sides, a, &rows, b, &n, &info);
    double full[MOST * MOST];
    for (int j = 0; j < n; j++)
        for (int i = 0; i < n; i++)
            full[i + j * n] = definite(x, i < j ? i : j, i < j ? j : i);
    double size = 0.0;
    for (const char *norm = "MF1"; *norm; norm++)
        size += LAPACK_dlansy(norm, &half, &n, full, &n, work);
    LAPACK_dpotrf(&half, &n, full, &n, &info);
    LAPACK_dpocon(&half, &n, full, &n, &size, &rcond, work, wholes, &info);
    return weighed(b, 2 * n) + 100.0 * rcond + size;
}

static double mixed(const double *x, int n, int kl, int ku, char trans)
{
    double a[MOST * 3 * MOST] = {0.0}, b[2 * MOST], work[ROOM], rcond, sum = 0.0;
    int rows = 2 * kl + ku + 1, sides = 2, pivots[MOST], wholes[MOST], info;
    for (int j = 0; j < n; j++)
        for (int i = j > ku ? j - ku : 0; i < n && i <= j + kl; i++)
            a[kl + ku + i - j + j * rows] = element(x, i, j);
    sides_of(x, n, b);
    double size = LAPACK_dlangb("1", &n, &kl, &ku, a + kl, &rows, work);
    for (const char *norm = "MIF"; *norm; norm++)
        sum += LAPACK_dlangb(norm, &n, &kl, &ku, a + kl, &rows, work);
    LAPACK_dgbtrf(&n, &n, &kl, &ku, a, &rows, pivots, &info);
    LAPACK_dgbtrs(&trans, &n, &kl, &ku, &sides, a, &rows, pivots, b, &n, &info);
    LAPACK_dgbcon("1", &n, &kl, &ku, a, &rows, pivots, &size, &rcond, work, wholes, &info);
    return weighed(b, 2 * n) + 10.0 * rcond + sum;
}

static double conditions(const double *x, int n)
{
    double a[MOST * MOST], work[ROOM], rcond, sum = 0.0;
    int pivots[MOST], wholes[MOST], info;
    for (int j = 0; j < n; j++)
        for (int i = 0; i < n; i++)
            a[i + j * n] = element(x, i, j);
    for (const char *half = "UL"; *half; half++)
        for (const char *norm = "1I"; *norm; norm++) {
            LAPACK_dtrcon(norm, half, *norm == '1' ? "N" : "U", &n, a, &n, &rcond, work, wholes, &info);
            sum += 100.0 * rcond;
        }
    for (const char *norm = "1I"; *norm; norm++) {
        double factors[MOST * MOST], size = LAPACK_dlange(norm, &n, &n, a, &n, work);
        for (int i = 0; i < n * n; i++)
            factors[i] = a[i];
        LAPACK_dgetrf(&n, &n, factors, &n, pivots, &info);
        LAPACK_dgecon(norm, &n, factors, &n, &size, &rcond, work, wholes, &info);
        sum += 100.0 * rcond;
    }
    return sum;
}

static double expert(const double *x, int n, char trans, char half)
{
    double a[MOST * MOST], af[MOST * MOST], b[2 * MOST], y[2 * MOST], r[MOST], c[MOST], ferr[2], berr[2], work[ROOM];
    double rcond, sum;
    int sides = 2, pivots[MOST], wholes[MOST], info;
    char equed;
    for (int j = 0; j < n; j++)
        for (int i = 0; i < n; i++)
            a[i + j * n] = element(x, i, j);
    sides_of(x, n, b);
    LAPACK_dgesvx("N", &trans, &n, &sides, a, &n, af, &n, pivots, &equed, r, c, b, &n, y, &n, &rcond, ferr, berr, work,
                  wholes, &info);
    sum = weighed(y, 2 * n) + 10.0 * rcond;
    for (int j = 0; j < n; j++)
        for (int i = 0; i < n; i++)
            a[i + j * n] = definite(x, i < j ? i : j, i < j ? j : i);
    LAPACK_dposvx("N", &half, &n, &sides, a, &n, af, &n, &equed, r, b, &n, y, &n, &rcond, ferr, berr, work, wholes,
                  &info);
    sum += weighed(y, 2 * n) + 10.0 * rcond;
    int one = 1, rows = 3, more = 4;
    for (int j = 0; j < n; j++)
        for (int i = j > 1 ? j - 1 : 0; i < n && i <= j + 1; i++)
            a[1 + i - j + j * rows] = element(x, i, j);
    LAPACK_dgbsvx("N", &trans, &n, &one, &one, &sides, a, &rows, af, &more, pivots, &equed, r, c, b, &n, y, &n, &rcond,
                  ferr, berr, work, wholes, &info);
    return sum + weighed(y, 2 * n) + 10.0 * rcond;
}

static double least_squares(const double *x, int m, int n)
{
    double a[MOST * MOST], b[2 * MOST], s[MOST], work[4 * ROOM], least = -1.0;
    int sides = 2, most = m > n ? m : n, rank, room = 4 * ROOM, wholes[ROOM], info;
    for (int j = 0; j < n; j++)
        for (int i = 0; i < m; i++)
            a[i + j * m] = element(x, i, j);
    sides_of(x, most, b);
    LAPACK_dgelsd(&m, &n, &sides, a, &m, b, &most, s, &least, &rank, work, &room, wholes, &info);
    return rank * (weighed(b, n) + weighed(b + most, n));
}

static double all(const double *x)
{
    return banded(x, 8, 2, 'U') + banded(x, 8, 3, 'L') + banded(x, 3, 0, 'U') + mixed(x, 8, 2, 1, 'N') +
           mixed(x, 7, 1, 3, 'T') + mixed(x, 6, 0, 2, 'N') + conditions(x, 6) + conditions(x, 1) +
           expert(x, 6, 'N', 'U') + expert(x, 5, 'T', 'L') + least_squares(x, 7, 4) + least_squares(x, 3, 6);
}

static double tangent(const double *x, const double *v) { return __enzyme_fwddiff((void *)all, enzyme_dup, x, v); }

static void gradient(const double *x, double *g)
{
    corpus_zero(g, COUNT);
    __enzyme_autodiff((void *)all, enzyme_dup, x, g);
}

static const struct corpus_problem problem = {
    .name = "lapack_bands",
    .size = COUNT,
    .point = point,
    .setup = setup,
    .value = all,
    .tangent = tangent,
    .gradient = gradient,
};

CORPUS_MAIN(&problem)
