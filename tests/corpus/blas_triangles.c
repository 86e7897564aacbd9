// corpus: native
// Triangular and symmetric matrices by BLAS: solutions, products and updates from both sides, of both halves, in rows
// and in columns, transposed or not, with a diagonal of ones or not. The sizes need more than one block.
//
//   loss = sums of squares of x = T^-1 b, T b, S b, C = a A A^T + b C, C = a (A B^T + B A^T) + b C, ...
//
// Source: Dongarra et al., "A set of level 3 basic linear algebra subprograms", 1990.
#include "corpus.h"

#include <cblas.h>

enum { N = 19, M = 18, LD = 20, COUNT = 40 };

static double point[COUNT];

static void setup(void)
{
    corpus_seed(5);
    corpus_fill(point, COUNT, 0.1, 1.0);
}

static double of(const double *x, enum CBLAS_ORDER order, enum CBLAS_UPLO uplo, enum CBLAS_TRANSPOSE trans,
                 enum CBLAS_DIAG diag)
{
    static double a[LD * LD], b[LD * LD], c[LD * LD];
    double u[2 * LD], v[2 * LD];
    for (int i = 0; i < LD * LD; i++) {
        a[i] = 0.1 * sin(i) * x[i % COUNT] + (i % (LD + 1) ? 0.0 : 1.5);
        b[i] = cos(i) * x[(3 * i) % COUNT];
        c[i] = x[(7 * i) % COUNT];
    }
    for (int i = 0; i < 2 * LD; i++) {
        u[i] = x[i];
        v[i] = x[COUNT - 1 - i] * x[0];
    }
    cblas_dtrsv(order, uplo, trans, diag, N, a, LD, u, 2);
    cblas_dtrmv(order, uplo, trans, diag, N, a, LD, v, -2);
    cblas_dsymv(order, uplo, N, x[1], a, LD, u, -2, 0.5, v, 1);
    cblas_dtrsm(order, CblasLeft, uplo, trans, diag, N, M, x[2], a, LD, b, LD);
    cblas_dtrmm(order, CblasRight, uplo, trans, diag, N, M, 0.9, a, LD, b, LD);
    cblas_dtrsm(order, CblasRight, uplo, trans, diag, M, N, 1.0, a, LD, c, LD);
    cblas_dtrmm(order, CblasLeft, uplo, trans, diag, N, M, x[3], a, LD, c, LD);
    cblas_dsymm(order, CblasLeft, uplo, N, M, 0.4, a, LD, b, LD, x[4], c, LD);
    cblas_dsymm(order, CblasRight, uplo, M, N, 0.4, a, LD, c, LD, 0.0, b, LD);
    cblas_dsyr(order, uplo, N, 0.1, u, 1, a, LD);
    cblas_dsyr2(order, uplo, N, x[5], u, 1, v, 2, a, LD);
    cblas_dsyrk(order, uplo, trans, N, M, 0.01, b, LD, x[6], a, LD);
    cblas_dsyr2k(order, uplo, trans, N, M, 0.01, b, LD, c, LD, 0.5, a, LD);
    double sum = cblas_ddot(2 * LD, u, 1, v, 1);
    for (int i = 0; i < LD * LD; i++)
        sum += a[i] * a[i] + 0.01 * b[i] * c[i];
    return sum;
}

static double all(const double *x)
{
    double sum = 0.0;
    for (int k = 0; k < 16; k++)
        sum += (k + 1) * of(x, k & 1 ? CblasRowMajor : CblasColMajor, k & 2 ? CblasUpper : CblasLower,
                            k & 4 ? CblasTrans : CblasNoTrans, k & 8 ? CblasUnit : CblasNonUnit);
    return sum * 1e-3;
}

static double tangent(const double *x, const double *v) { return __enzyme_fwddiff((void *)all, enzyme_dup, x, v); }

static void gradient(const double *x, double *g)
{
    corpus_zero(g, COUNT);
    __enzyme_autodiff((void *)all, enzyme_dup, x, g);
}

static const struct corpus_problem problem = {
    .name = "blas_triangles",
    .size = COUNT,
    .point = point,
    .setup = setup,
    .value = all,
    .tangent = tangent,
    .gradient = gradient,
};

CORPUS_MAIN(&problem)
