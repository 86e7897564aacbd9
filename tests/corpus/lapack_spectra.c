// corpus: native
// Eigenvalues and vectors of symmetric matrices, singular values and vectors, by LAPACK: by the names of Fortran and in C.
//
//   A v = l v, A v = l B v: sum c_i l_i^2 + sum c_ij V_ij, sin(l) over all; A = U S V^T: the same of S, U and V, of thin and full ones;
//   a second derivative: the gradient of the derivative of such a sum along one direction
//
// Source: LAPACK Users' Guide, 1999.
#include "corpus.h"

#include <lapacke.h>

enum { MOST = 9, ROOM = 64 * MOST, COUNT = 16 };

static double point[COUNT];

static void setup(void)
{
    corpus_seed(31);
    corpus_fill(point, COUNT, 0.2, 1.0);
}

static double weighed(const double *a, int n)
{
    double sum = 0.0;
    for (int i = 0; i < n; i++)
        sum += a[i] * (i % 7 - 2);
    return sum;
}

static void symmetric_of(const double *x, int n, double *a)
{
    for (int j = 0; j < n; j++)
        for (int i = 0; i < n; i++)
            a[i + j * n] = x[(i + j) % COUNT] * x[i * j % COUNT] + (i == j ? 2.0 * i : 0.0);
}

static void matrix_of(const double *x, int m, int n, double *a)
{
    for (int j = 0; j < n; j++)
        for (int i = 0; i < m; i++)
            a[i + j * m] = sin(1.0 + i * j + i) + x[(i + 3 * j) % COUNT] + (i == j ? 2.0 + i : 0.0);
}

static double symmetric(const double *x, int n, char job, char half, int divides)
{
    double a[MOST * MOST], w[MOST], work[ROOM], sum = 0.0;
    int room = ROOM, wholes[ROOM], info;
    symmetric_of(x, n, a);
    // What the other half holds is not read.
    for (int j = 0; j < n; j++)
        for (int i = 0; i < n; i++)
            if (i != j && (i < j) != (half == 'U'))
                a[i + j * n] = x[0];
    if (divides)
        LAPACK_dsyevd(&job, &half, &n, a, &n, w, work, &room, wholes, &room, &info);
    else
        LAPACK_dsyev(&job, &half, &n, a, &n, w, work, &room, &info);
    for (int i = 0; i < n; i++)
        sum += (i + 1) * w[i] * w[i] + sin(w[i]);
    return 0.1 * sum + (job == 'V' ? weighed(a, n * n) : 0.0);
}

// Vibrations of springs between masses: K v = l M v; all of the spectrum by another driver.
static double generalised(const double *x, int n, char half, int divides)
{
    double a[MOST * MOST], b[MOST * MOST], w[MOST], z[MOST * MOST], work[ROOM], zero = 0.0, sum = 0.0;
    int room = ROOM, wholes[ROOM], support[2 * MOST], type = 1, none = 0, found, info;
    symmetric_of(x, n, a);
    for (int j = 0; j < n; j++)
        for (int i = 0; i < n; i++)
            b[i + j * n] = i == j ? 3.0 + x[i] : 0.5 * x[(i + j) % 5];
    if (divides)
        LAPACK_dsygvd(&type, "V", &half, &n, a, &n, b, &n, w, work, &room, wholes, &room, &info);
    else
        LAPACK_dsygv(&type, "V", &half, &n, a, &n, b, &n, w, work, &room, &info);
    for (int i = 0; i < n; i++)
        sum += (i + 1) * w[i] * w[i];
    sum += b[0];
    // The signs of vectors may jump.
    for (int j = 0; j < n; j++)
        sum += weighed(a + j * n, n) * weighed(a + j * n, n);
    symmetric_of(x, n, a);
    LAPACK_dsyevr("V", "A", &half, &n, a, &n, &zero, &zero, &none, &none, &zero, &found, w, z, &n, support, work, &room,
                  wholes, &room, &info);
    for (int j = 0; j < found; j++)
        sum += (j + 1) * sin(w[j]) + weighed(z + j * n, n) * weighed(z + j * n, n);
    return sum;
}

static double in_rows(const double *x, int m, int n, char left, char right)
{
    double a[MOST * MOST], s[MOST], u[MOST * MOST], vt[MOST * MOST], rest[MOST], w[MOST], sum = 0.0;
    int fewer = m < n ? m : n;
    matrix_of(x, m, n, a);
    LAPACKE_dgesvd(LAPACK_ROW_MAJOR, left, right, m, n, a, n, s, u, fewer, vt, n, rest);
    for (int i = 0; i < fewer; i++)
        sum += (i + 1) * s[i] * s[i];
    sum += (left == 'S' ? weighed(u, m * fewer) : 0.0) + (right == 'S' ? weighed(vt, fewer * n) : 0.0);
    symmetric_of(x, fewer, a);
    LAPACKE_dsyev(LAPACK_ROW_MAJOR, 'V', 'L', fewer, a, fewer, w);
    return sum + weighed(a, fewer * fewer) + w[0] * w[1];
}

// Of all vectors of one side those are used that belong to a value.
static double singular(const double *x, int m, int n, char job, int divides)
{
    double a[MOST * MOST], s[MOST], u[MOST * MOST], vt[MOST * MOST], work[ROOM], sum = 0.0;
    int fewer = m < n ? m : n, down = job == 'A' ? n : fewer, room = ROOM, wholes[8 * MOST], info;
    matrix_of(x, m, n, a);
    if (divides)
        LAPACK_dgesdd(&job, &m, &n, a, &m, s, u, &m, vt, &down, work, &room, wholes, &info);
    else
        LAPACK_dgesvd(&job, &job, &m, &n, a, &m, s, u, &m, vt, &down, work, &room, &info);
    for (int i = 0; i < fewer; i++) {
        sum += (i + 1) * s[i] * s[i] + sin(s[i]);
        for (int j = 0; j < m && job != 'N'; j++)
            sum += u[j + i * m] * (j - 2);
        for (int j = 0; j < n && job != 'N'; j++)
            sum += vt[i + j * down] * (j % 3);
    }
    return 0.1 * sum;
}

static double curved(const double *x) { return symmetric(x, 4, 'V', 'U', 0) + singular(x, 5, 3, 'S', 1); }

static double along(const double *x)
{
    double v[COUNT];
    for (int i = 0; i < COUNT; i++)
        v[i] = cos(i);
    return __enzyme_fwddiff((void *)curved, enzyme_dup, x, v);
}

static double all(const double *x)
{
    return generalised(x, 5, 'U', 0) + generalised(x, 6, 'L', 1) + symmetric(x, 6, 'V', 'U', 0) +
           symmetric(x, MOST, 'V', 'L', 1) + symmetric(x, 5, 'N', 'L', 0) +
           symmetric(x, 5, 'N', 'U', 1) + symmetric(x, 1, 'V', 'U', 0) + in_rows(x, 6, 4, 'S', 'S') +
           in_rows(x, 4, 6, 'S', 'N') + in_rows(x, 5, 3, 'N', 'S') + singular(x, 7, 4, 'S', 1) +
           singular(x, 4, 7, 'S', 0) + singular(x, 5, 5, 'A', 1) + singular(x, 6, 3, 'A', 0) +
           singular(x, 3, 6, 'A', 1) + singular(x, 6, 5, 'N', 1) + singular(x, 5, 6, 'N', 0) + 0.1 * along(x);
}

static double tangent(const double *x, const double *v) { return __enzyme_fwddiff((void *)all, enzyme_dup, x, v); }

static void gradient(const double *x, double *g)
{
    corpus_zero(g, COUNT);
    __enzyme_autodiff((void *)all, enzyme_dup, x, g);
}

static const struct corpus_problem problem = {
    .name = "lapack_spectra",
    .size = COUNT,
    .point = point,
    .setup = setup,
    .value = all,
    .tangent = tangent,
    .gradient = gradient,
};

CORPUS_MAIN(&problem)
