// corpus: native
// Two layers of a network by BLAS, and its vectors: products with matrices in rows and in columns, transposed or not,
// inside larger ones; with vectors of strides of their own, also negative. Sizes on both sides of those from which
// products are the library's.
//
//   h = tanh(W x + b) for a batch, y = V h, loss = sum y^2 + |h| + sum |b| + ...
//
// Source: Dongarra et al., "A set of level 3 basic linear algebra subprograms", 1990.
#include "corpus.h"

#include <cblas.h>

enum { IN = 6, HIDDEN = 14, OUT = 9, BATCH = 12, LD = 16, COUNT = IN * BATCH + HIDDEN * IN + OUT * HIDDEN + HIDDEN + 2 };

static double point[COUNT];

static void setup(void)
{
    corpus_seed(11);
    corpus_fill(point, COUNT, -1.0, 1.0);
}

// A matrix of `m` rows and `n` columns as `order` and `trans` have it lie, LD apart; from one in columns.
static void lay(int order, int trans, int m, int n, const double *from, double *to)
{
    int rows = (order == CblasRowMajor) != (trans != CblasNoTrans);
    for (int j = 0; j < n; j++)
        for (int i = 0; i < m; i++)
            to[rows ? i * LD + j : i + j * LD] = from[i + j * m];
}

static double layers(const double *x, int order, int ta, int tb)
{
    double w[LD * LD], v[LD * LD], in[LD * LD], h[LD * LD], y[LD * LD];
    const double *weights = x + IN * BATCH, *outer = weights + HIDDEN * IN, *bias = outer + OUT * HIDDEN;
    for (int i = 0; i < LD * LD; i++)
        w[i] = v[i] = in[i] = h[i] = y[i] = 0.01 * i;
    lay(order, ta, HIDDEN, IN, weights, w);
    lay(order, tb, IN, BATCH, x, in);
    lay(order, ta, OUT, HIDDEN, outer, v);
    int rs = order == CblasRowMajor ? LD : 1, cs = order == CblasRowMajor ? 1 : LD;
    for (int j = 0; j < BATCH; j++)
        cblas_dcopy(HIDDEN, bias, 1, h + j * cs, rs);
    cblas_dgemm((enum CBLAS_ORDER)order, (enum CBLAS_TRANSPOSE)ta, (enum CBLAS_TRANSPOSE)tb, HIDDEN, BATCH, IN, 0.5, w,
                LD, in, LD, bias[HIDDEN], h, LD);
    for (int j = 0; j < BATCH; j++)
        for (int i = 0; i < HIDDEN; i++)
            h[i * rs + j * cs] = tanh(h[i * rs + j * cs]);
    cblas_dgemm((enum CBLAS_ORDER)order, (enum CBLAS_TRANSPOSE)ta, CblasNoTrans, OUT, BATCH, HIDDEN, bias[HIDDEN + 1],
                v, LD, h, LD, 0.0, y, LD);
    double sum = 0.0;
    for (int j = 0; j < BATCH; j++)
        sum += cblas_ddot(OUT, y + j * cs, rs, y + j * cs, rs) + cblas_dnrm2(HIDDEN, h + j * cs, rs);
    // A vector for each layer.
    double u[2 * LD], z[3 * LD];
    for (int i = 0; i < 3 * LD; i++)
        z[i] = bias[i % HIDDEN];
    cblas_dcopy(LD, x, 1, u, -2);
    cblas_dcopy(LD, x + 3, 2, u + 1, 2);
    cblas_dgemv((enum CBLAS_ORDER)order, (enum CBLAS_TRANSPOSE)ta, ta == CblasNoTrans ? HIDDEN : IN,
                ta == CblasNoTrans ? IN : HIDDEN, 0.7, w, LD, u, -2, bias[HIDDEN], z, 3);
    cblas_dger((enum CBLAS_ORDER)order, OUT, HIDDEN, 0.3, z, 3, u, 1, y, LD);
    cblas_drot(5, u, 1, z, -2, x[0], x[1]);
    cblas_dswap(4, u, 2, z, 1);
    cblas_dscal(7, bias[1], z, 2);
    cblas_daxpy(6, bias[2], u, -1, z, 3);
    size_t most = cblas_idamax(OUT, y, 2);
    return sum + cblas_dasum(LD, z, 3) + y[2 * most] * u[3] + cblas_ddot(LD, u, 2, z, -1);
}

static double all(const double *x)
{
    double sum = 0.0;
    for (int order = CblasRowMajor; order <= CblasColMajor; order++)
        for (int k = 0; k < 4; k++)
            sum += layers(x, order, k & 1 ? CblasTrans : CblasNoTrans, k & 2 ? CblasTrans : CblasNoTrans) * (k + order);
    return sum * 1e-2;
}

static double tangent(const double *x, const double *v) { return __enzyme_fwddiff((void *)all, enzyme_dup, x, v); }

static void gradient(const double *x, double *g)
{
    corpus_zero(g, COUNT);
    __enzyme_autodiff((void *)all, enzyme_dup, x, g);
}

static const struct corpus_problem problem = {
    .name = "blas_products",
    .size = COUNT,
    .point = point,
    .setup = setup,
    .value = all,
    .tangent = tangent,
    .gradient = gradient,
};

CORPUS_MAIN(&problem)
