// corpus: native
// What BLAS does at its edges: strides that are not positive, no columns, bands, exchanged rows, halves that are copied.
//
//   y = a B x + b y, z = a B^T x + b z for a band B; loss = sums of products of y, z, exchanged and copied matrices
//
// Source: Dongarra et al., "An extended set of Fortran basic linear algebra subprograms", 1988.
#include "corpus.h"

#include <cblas.h>

enum { M = 6, N = 5, LD = 5, COUNT = 24 };

void dgbmv_(const char *trans, const int *m, const int *n, const int *kl, const int *ku, const double *alpha,
            const double *a, const int *lda, const double *x, const int *incx, const double *beta, double *y,
            const int *incy);
void dlaswp_(const int *n, double *a, const int *lda, const int *first, const int *last, const int *pivots,
             const int *inc);
void dlacpy_(const char *uplo, const int *m, const int *n, const double *a, const int *lda, double *b, const int *ldb);
int idamax_(const int *n, const double *x, const int *inc);

static double point[COUNT];

static void setup(void)
{
    corpus_seed(13);
    corpus_fill(point, COUNT, 0.2, 1.0);
}

static double all(const double *x)
{
    int m = M, n = N, below = 2, above = 1, ld = LD, one = 1, two = 2, back = -1, first = 1, last = 4;
    const int pivots[4] = {3, 2, 6, 5};
    double a[N * LD], y[20], z[20], c[M * N], d[M * N];
    for (int i = 0; i < N * LD; i++)
        a[i] = x[i % COUNT] + 0.1 * i;
    for (int i = 0; i < M * N; i++) {
        c[i] = x[(3 * i) % COUNT];
        d[i] = 1.0;
    }
    for (int i = 0; i < 20; i++)
        y[i] = z[i] = x[i];
    dgbmv_("N", &m, &n, &below, &above, x + 2, a, &ld, x, &two, x + 3, y, &one);
    dgbmv_("T", &m, &n, &below, &above, x + 2, a, &ld, x + 3, &one, x + 3, z, &back);
    // Neither does anything, whatever beta and alpha are.
    cblas_dgemv(CblasColMajor, CblasNoTrans, 4, 0, 2.0, a, LD, x, 1, 7.0, y, 1);
    cblas_dscal(5, x[1], y, -1);
    double sum = cblas_dasum(5, y, -1) + cblas_dasum(5, y, 2) + idamax_(&n, y, &back) + y[idamax_(&n, y, &two)];
    dlaswp_(&n, c, &m, &first, &last, pivots, &one);
    dlacpy_("U", &m, &n, c, &m, d, &m);
    dlacpy_("A", &two, &two, c, &m, d + 3, &m);
    for (int i = 0; i < M * N; i++)
        sum += c[i] * d[i] * (i + 1);
    for (int i = 0; i < 20; i++)
        sum += y[i] * z[i] * (i + 1);
    dlaswp_(&n, c, &m, &first, &last, pivots, &back);
    dlacpy_("L", &m, &n, c, &m, d, &m);
    for (int i = 0; i < M * N; i++)
        sum += c[i] * c[i] * d[i] * (i + 1);
    return sum * 0.01;
}

static double tangent(const double *x, const double *v) { return __enzyme_fwddiff((void *)all, enzyme_dup, x, v); }

static void gradient(const double *x, double *g)
{
    corpus_zero(g, COUNT);
    __enzyme_autodiff((void *)all, enzyme_dup, x, g);
}

static const struct corpus_problem problem = {
    .name = "blas_edges",
    .size = COUNT,
    .point = point,
    .setup = setup,
    .value = all,
    .tangent = tangent,
    .gradient = gradient,
};

CORPUS_MAIN(&problem)
