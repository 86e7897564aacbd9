// The functions of blas.c by their names, for one type of numbers, REAL, and one of integers, INT.

#define FORTRAN(name) GLUE(GLUE(LETTER, name), END)
#define OF_FORTRAN(before, name) GLUE(GLUE(GLUE(before, LETTER), name), END)
#define CBLAS(name) GLUE(GLUE(GLUE(cblas_, LETTER), name), CEND)
#define OF_CBLAS(before, name) GLUE(GLUE(GLUE(GLUE(cblas_, before), LETTER), name), CEND)
#define LAPACKE(name) GLUE(GLUE(GLUE(LAPACKE_, LETTER), name), CEND)

// The strides of a matrix that lies in columns, or in rows, and of its transpose.
#define RS(transposed, ld) ((transposed) ? (ld) : 1)
#define CS(transposed, ld) ((transposed) ? 1 : (ld))

// Vectors.

REAL FORTRAN(dot)(const INT *n, const REAL *x, const INT *incx, const REAL *y, const INT *incy) {
  return NAME(dot)(*n, x + FIRST(*n, *incx), *incx, y + FIRST(*n, *incy), *incy);
}
REAL CBLAS(dot)(INT n, const REAL *x, INT incx, const REAL *y, INT incy) {
  return NAME(dot)(n, x + FIRST(n, incx), incx, y + FIRST(n, incy), incy);
}
// Those of one vector do nothing where its stride is not positive.
#define SOME(n, inc) ((inc) > 0 ? (n) : 0)
REAL FORTRAN(nrm2)(const INT *n, const REAL *x, const INT *inc) { return NAME(nrm2)(SOME(*n, *inc), x, *inc); }
REAL CBLAS(nrm2)(INT n, const REAL *x, INT inc) { return NAME(nrm2)(SOME(n, inc), x, inc); }
REAL FORTRAN(asum)(const INT *n, const REAL *x, const INT *inc) { return NAME(asum)(SOME(*n, *inc), x, *inc); }
REAL CBLAS(asum)(INT n, const REAL *x, INT inc) { return NAME(asum)(SOME(n, inc), x, inc); }
INT OF_FORTRAN(i, amax)(const INT *n, const REAL *x, const INT *inc) {
  return SOME(*n, *inc) > 0 ? (INT)(NAME(iamax)(*n, x, *inc) + 1) : 0;
}
size OF_CBLAS(i, amax)(INT n, const REAL *x, INT inc) { return SOME(n, inc) > 0 ? (size)NAME(iamax)(n, x, inc) : 0; }
void FORTRAN(axpy)(const INT *n, const REAL *alpha, const REAL *x, const INT *incx, REAL *y, const INT *incy) {
  NAME(axpy)(*n, *alpha, x + FIRST(*n, *incx), *incx, y + FIRST(*n, *incy), *incy);
}
void CBLAS(axpy)(INT n, REAL alpha, const REAL *x, INT incx, REAL *y, INT incy) {
  NAME(axpy)(n, alpha, x + FIRST(n, incx), incx, y + FIRST(n, incy), incy);
}
void FORTRAN(scal)(const INT *n, const REAL *alpha, REAL *x, const INT *inc) {
  NAME(scal)(SOME(*n, *inc), *alpha, x, *inc);
}
void CBLAS(scal)(INT n, REAL alpha, REAL *x, INT inc) { NAME(scal)(SOME(n, inc), alpha, x, inc); }
void FORTRAN(copy)(const INT *n, const REAL *x, const INT *incx, REAL *y, const INT *incy) {
  NAME(copy)(*n, x + FIRST(*n, *incx), *incx, y + FIRST(*n, *incy), *incy);
}
void CBLAS(copy)(INT n, const REAL *x, INT incx, REAL *y, INT incy) {
  NAME(copy)(n, x + FIRST(n, incx), incx, y + FIRST(n, incy), incy);
}
void FORTRAN(swap)(const INT *n, REAL *x, const INT *incx, REAL *y, const INT *incy) {
  NAME(swap)(*n, x + FIRST(*n, *incx), *incx, y + FIRST(*n, *incy), *incy);
}
void CBLAS(swap)(INT n, REAL *x, INT incx, REAL *y, INT incy) {
  NAME(swap)(n, x + FIRST(n, incx), incx, y + FIRST(n, incy), incy);
}
void FORTRAN(rot)(const INT *n, REAL *x, const INT *incx, REAL *y, const INT *incy, const REAL *c, const REAL *s) {
  NAME(rot)(*n, x + FIRST(*n, *incx), *incx, y + FIRST(*n, *incy), *incy, *c, *s);
}
void CBLAS(rot)(INT n, REAL *x, INT incx, REAL *y, INT incy, REAL c, REAL s) {
  NAME(rot)(n, x + FIRST(n, incx), incx, y + FIRST(n, incy), incy, c, s);
}

// Matrices and vectors.

void FORTRAN(gemv)(const char *trans, const INT *m, const INT *n, const REAL *alpha, const REAL *a, const INT *lda,
                   const REAL *x, const INT *incx, const REAL *beta, REAL *y, const INT *incy) {
  _Bool t = moved(trans);
  whole rows = t ? *n : *m, columns = t ? *m : *n;
  // The library leaves y as it is then, whatever beta is.
  if (columns <= 0)
    return;
  NAME(product)(rows, columns, 1, *alpha, a, RS(t, *lda), CS(t, *lda), x + FIRST(columns, *incx), *incx, 1, *beta,
                y + FIRST(rows, *incy), *incy, 1);
}
void CBLAS(gemv)(INT order, INT trans, INT m, INT n, REAL alpha, const REAL *a, INT lda, const REAL *x, INT incx,
                 REAL beta, REAL *y, INT incy) {
  _Bool moves = trans != PLAIN, t = moves != (order == ROWS);
  whole rows = moves ? n : m, columns = moves ? m : n;
  if (columns <= 0)
    return;
  NAME(product)(rows, columns, 1, alpha, a, RS(t, lda), CS(t, lda), x + FIRST(columns, incx), incx, 1, beta,
                y + FIRST(rows, incy), incy, 1);
}
void FORTRAN(gbmv)(const char *trans, const INT *m, const INT *n, const INT *kl, const INT *ku, const REAL *alpha,
                   const REAL *a, const INT *lda, const REAL *x, const INT *incx, const REAL *beta, REAL *y,
                   const INT *incy) {
  _Bool t = moved(trans);
  if (*m <= 0 || *n <= 0)
    return;
  NAME(gbmv)(*m, *n, *kl, *ku, *alpha, a, 1, *lda, x + FIRST(t ? *m : *n, *incx), *incx, *beta,
             y + FIRST(t ? *n : *m, *incy), *incy, t);
}
void FORTRAN(ger)(const INT *m, const INT *n, const REAL *alpha, const REAL *x, const INT *incx, const REAL *y,
                  const INT *incy, REAL *a, const INT *lda) {
  NAME(ger)(*m, *n, *alpha, x + FIRST(*m, *incx), *incx, y + FIRST(*n, *incy), *incy, a, 1, *lda);
}
void CBLAS(ger)(INT order, INT m, INT n, REAL alpha, const REAL *x, INT incx, const REAL *y, INT incy, REAL *a,
                INT lda) {
  NAME(ger)(m, n, alpha, x + FIRST(m, incx), incx, y + FIRST(n, incy), incy, a, RS(order == ROWS, lda),
            CS(order == ROWS, lda));
}
void FORTRAN(symv)(const char *uplo, const INT *n, const REAL *alpha, const REAL *a, const INT *lda, const REAL *x,
                   const INT *incx, const REAL *beta, REAL *y, const INT *incy) {
  NAME(symv)(is(uplo, 'u'), *n, *alpha, a, 1, *lda, x + FIRST(*n, *incx), *incx, *beta, y + FIRST(*n, *incy), *incy);
}
void CBLAS(symv)(INT order, INT uplo, INT n, REAL alpha, const REAL *a, INT lda, const REAL *x, INT incx, REAL beta,
                 REAL *y, INT incy) {
  NAME(symv)(uplo == UPPER, n, alpha, a, RS(order == ROWS, lda), CS(order == ROWS, lda), x + FIRST(n, incx), incx, beta,
             y + FIRST(n, incy), incy);
}
void FORTRAN(syr)(const char *uplo, const INT *n, const REAL *alpha, const REAL *x, const INT *incx, REAL *a,
                  const INT *lda) {
  x += FIRST(*n, *incx);
  NAME(syr2)(is(uplo, 'u'), *n, *alpha, x, *incx, x, *incx, a, 1, *lda, 1);
}
void CBLAS(syr)(INT order, INT uplo, INT n, REAL alpha, const REAL *x, INT incx, REAL *a, INT lda) {
  x += FIRST(n, incx);
  NAME(syr2)(uplo == UPPER, n, alpha, x, incx, x, incx, a, RS(order == ROWS, lda), CS(order == ROWS, lda), 1);
}
void FORTRAN(syr2)(const char *uplo, const INT *n, const REAL *alpha, const REAL *x, const INT *incx, const REAL *y,
                   const INT *incy, REAL *a, const INT *lda) {
  NAME(syr2)(is(uplo, 'u'), *n, *alpha, x + FIRST(*n, *incx), *incx, y + FIRST(*n, *incy), *incy, a, 1, *lda, 0);
}
void CBLAS(syr2)(INT order, INT uplo, INT n, REAL alpha, const REAL *x, INT incx, const REAL *y, INT incy, REAL *a,
                 INT lda) {
  NAME(syr2)(uplo == UPPER, n, alpha, x + FIRST(n, incx), incx, y + FIRST(n, incy), incy, a, RS(order == ROWS, lda),
             CS(order == ROWS, lda), 0);
}

// Of a triangle that is transposed the other half counts.
#define ON_VECTOR(name)                                                                                                \
  void FORTRAN(name)(const char *uplo, const char *trans, const char *diag, const INT *n, const REAL *a,               \
                     const INT *lda, REAL *x, const INT *inc) {                                                        \
    _Bool t = moved(trans);                                                                                            \
    NAME(name)(is(uplo, 'u') != t, is(diag, 'u'), *n, a, RS(t, *lda), CS(t, *lda), x + FIRST(*n, *inc), *inc);         \
  }                                                                                                                    \
  void CBLAS(name)(INT order, INT uplo, INT trans, INT diag, INT n, const REAL *a, INT lda, REAL *x, INT inc) {        \
    _Bool moves = trans != PLAIN, t = moves != (order == ROWS);                                                        \
    NAME(name)((uplo == UPPER) != moves, diag == UNIT, n, a, RS(t, lda), CS(t, lda), x + FIRST(n, inc), inc);          \
  }
ON_VECTOR(trmv)
ON_VECTOR(trsv)

// Matrices.

void FORTRAN(gemm)(const char *transa, const char *transb, const INT *m, const INT *n, const INT *k, const REAL *alpha,
                   const REAL *a, const INT *lda, const REAL *b, const INT *ldb, const REAL *beta, REAL *c,
                   const INT *ldc) {
  _Bool ta = moved(transa), tb = moved(transb);
  NAME(product)(*m, *k, *n, *alpha, a, RS(ta, *lda), CS(ta, *lda), b, RS(tb, *ldb), CS(tb, *ldb), *beta, c, 1, *ldc);
}
void CBLAS(gemm)(INT order, INT transa, INT transb, INT m, INT n, INT k, REAL alpha, const REAL *a, INT lda,
                 const REAL *b, INT ldb, REAL beta, REAL *c, INT ldc) {
  _Bool rows = order == ROWS, ta = (transa != PLAIN) != rows, tb = (transb != PLAIN) != rows;
  NAME(product)(m, k, n, alpha, a, RS(ta, lda), CS(ta, lda), b, RS(tb, ldb), CS(tb, ldb), beta, c, RS(rows, ldc),
                CS(rows, ldc));
}

// From the right: what is transposed is multiplied from the left.
#define ON_MATRIX(name)                                                                                                \
  INLINE void NAME(name##_on)(_Bool right, _Bool upper, _Bool moves, _Bool unit, whole m, whole n, REAL alpha,         \
                              const REAL *a, whole rsa, whole csa, REAL *b, whole rsb, whole csb) {                    \
    _Bool t = moves != right;                                                                                          \
    NAME(scale_all)(m, n, alpha, b, rsb, csb);                                                                         \
    NAME(name)(upper != t, unit, right ? n : m, right ? m : n, a, t ? csa : rsa, t ? rsa : csa, b, right ? csb : rsb,  \
               right ? rsb : csb);                                                                                     \
  }                                                                                                                    \
  void FORTRAN(name)(const char *side, const char *uplo, const char *trans, const char *diag, const INT *m,            \
                     const INT *n, const REAL *alpha, const REAL *a, const INT *lda, REAL *b, const INT *ldb) {        \
    NAME(name##_on)(is(side, 'r'), is(uplo, 'u'), moved(trans), is(diag, 'u'), *m, *n, *alpha, a, 1, *lda, b, 1,       \
                    *ldb);                                                                                             \
  }                                                                                                                    \
  void CBLAS(name)(INT order, INT side, INT uplo, INT trans, INT diag, INT m, INT n, REAL alpha, const REAL *a,        \
                   INT lda, REAL *b, INT ldb) {                                                                        \
    _Bool rows = order == ROWS;                                                                                        \
    NAME(name##_on)(side == RIGHT, uplo == UPPER, trans != PLAIN, diag == UNIT, m, n, alpha, a, RS(rows, lda),         \
                    CS(rows, lda), b, RS(rows, ldb), CS(rows, ldb));                                                   \
  }
ON_MATRIX(trmm)
ON_MATRIX(trsm)

INLINE void NAME(symm_on)(_Bool right, _Bool upper, whole m, whole n, REAL alpha, const REAL *a, whole rsa, whole csa,
                          const REAL *b, whole rsb, whole csb, REAL beta, REAL *c, whole rsc, whole csc) {
  NAME(symm)(upper, right ? n : m, right ? m : n, alpha, a, rsa, csa, b, right ? csb : rsb, right ? rsb : csb, beta, c,
             right ? csc : rsc, right ? rsc : csc);
}
void FORTRAN(symm)(const char *side, const char *uplo, const INT *m, const INT *n, const REAL *alpha, const REAL *a,
                   const INT *lda, const REAL *b, const INT *ldb, const REAL *beta, REAL *c, const INT *ldc) {
  NAME(symm_on)(is(side, 'r'), is(uplo, 'u'), *m, *n, *alpha, a, 1, *lda, b, 1, *ldb, *beta, c, 1, *ldc);
}
void CBLAS(symm)(INT order, INT side, INT uplo, INT m, INT n, REAL alpha, const REAL *a, INT lda, const REAL *b,
                 INT ldb, REAL beta, REAL *c, INT ldc) {
  _Bool rows = order == ROWS;
  NAME(symm_on)(side == RIGHT, uplo == UPPER, m, n, alpha, a, RS(rows, lda), CS(rows, lda), b, RS(rows, ldb),
                CS(rows, ldb), beta, c, RS(rows, ldc), CS(rows, ldc));
}
void FORTRAN(syrk)(const char *uplo, const char *trans, const INT *n, const INT *k, const REAL *alpha, const REAL *a,
                   const INT *lda, const REAL *beta, REAL *c, const INT *ldc) {
  _Bool t = moved(trans);
  NAME(half_product)(is(uplo, 'u'), *n, *k, *alpha, a, RS(t, *lda), CS(t, *lda), a, RS(t, *lda), CS(t, *lda), *beta, c,
                     1, *ldc);
}
void CBLAS(syrk)(INT order, INT uplo, INT trans, INT n, INT k, REAL alpha, const REAL *a, INT lda, REAL beta, REAL *c,
                 INT ldc) {
  _Bool rows = order == ROWS, t = (trans != PLAIN) != rows;
  NAME(half_product)(uplo == UPPER, n, k, alpha, a, RS(t, lda), CS(t, lda), a, RS(t, lda), CS(t, lda), beta, c,
                     RS(rows, ldc), CS(rows, ldc));
}
void FORTRAN(syr2k)(const char *uplo, const char *trans, const INT *n, const INT *k, const REAL *alpha, const REAL *a,
                    const INT *lda, const REAL *b, const INT *ldb, const REAL *beta, REAL *c, const INT *ldc) {
  _Bool t = moved(trans), upper = is(uplo, 'u');
  whole rsa = RS(t, *lda), csa = CS(t, *lda), rsb = RS(t, *ldb), csb = CS(t, *ldb);
  NAME(half_product)(upper, *n, *k, *alpha, a, rsa, csa, b, rsb, csb, *beta, c, 1, *ldc);
  NAME(half_product)(upper, *n, *k, *alpha, b, rsb, csb, a, rsa, csa, 1, c, 1, *ldc);
}
void CBLAS(syr2k)(INT order, INT uplo, INT trans, INT n, INT k, REAL alpha, const REAL *a, INT lda, const REAL *b,
                  INT ldb, REAL beta, REAL *c, INT ldc) {
  _Bool rows = order == ROWS, t = (trans != PLAIN) != rows, upper = uplo == UPPER;
  whole rsa = RS(t, lda), csa = CS(t, lda), rsb = RS(t, ldb), csb = CS(t, ldb), rs = RS(rows, ldc), cs = CS(rows, ldc);
  NAME(half_product)(upper, n, k, alpha, a, rsa, csa, b, rsb, csb, beta, c, rs, cs);
  NAME(half_product)(upper, n, k, alpha, b, rsb, csb, a, rsa, csa, 1, c, rs, cs);
}

// LAPACK. The upper factor of Cholesky's is the lower one, transposed.

void FORTRAN(potrf)(const char *uplo, const INT *n, REAL *a, const INT *lda, INT *info) {
  *info = (INT)NAME(potrf)(*n, a, RS(is(uplo, 'u'), *lda), CS(is(uplo, 'u'), *lda));
}
void FORTRAN(potrs)(const char *uplo, const INT *n, const INT *sides, const REAL *a, const INT *lda, REAL *b,
                    const INT *ldb, INT *info) {
  NAME(potrs)(*n, *sides, a, RS(is(uplo, 'u'), *lda), CS(is(uplo, 'u'), *lda), b, 1, *ldb);
  *info = 0;
}
void FORTRAN(posv)(const char *uplo, const INT *n, const INT *sides, REAL *a, const INT *lda, REAL *b, const INT *ldb,
                   INT *info) {
  whole rs = RS(is(uplo, 'u'), *lda), cs = CS(is(uplo, 'u'), *lda), bad = NAME(potrf)(*n, a, rs, cs);
  *info = (INT)bad;
  if (!bad)
    NAME(potrs)(*n, *sides, a, rs, cs, b, 1, *ldb);
}
void FORTRAN(getrf)(const INT *m, const INT *n, REAL *a, const INT *lda, INT *pivots, INT *info) {
  *info = (INT)NAME(getrf)(*m, *n, a, 1, *lda, pivots);
}
void FORTRAN(getrs)(const char *trans, const INT *n, const INT *sides, const REAL *a, const INT *lda, const INT *pivots,
                    REAL *b, const INT *ldb, INT *info) {
  NAME(getrs)(moved(trans), *n, *sides, a, 1, *lda, pivots, b, 1, *ldb);
  *info = 0;
}
void FORTRAN(gesv)(const INT *n, const INT *sides, REAL *a, const INT *lda, INT *pivots, REAL *b, const INT *ldb,
                   INT *info) {
  whole bad = NAME(getrf)(*n, *n, a, 1, *lda, pivots);
  *info = (INT)bad;
  if (!bad)
    NAME(getrs)(0, *n, *sides, a, 1, *lda, pivots, b, 1, *ldb);
}
void FORTRAN(getri)(const INT *n, REAL *a, const INT *lda, const INT *pivots, REAL *work, const INT *lwork, INT *info) {
  *info = 0;
  if (*lwork == -1)
    *work = (REAL)*n;
  else
    *info = (INT)NAME(getri)(*n, a, 1, *lda, pivots);
}
void FORTRAN(trtrs)(const char *uplo, const char *trans, const char *diag, const INT *n, const INT *sides,
                    const REAL *a, const INT *lda, REAL *b, const INT *ldb, INT *info) {
  _Bool t = moved(trans);
  *info = (INT)NAME(trtrs)(is(uplo, 'u') != t, is(diag, 'u'), *n, *sides, a, RS(t, *lda), CS(t, *lda), b, 1, *ldb);
}
void FORTRAN(gtsv)(const INT *n, const INT *sides, REAL *below, REAL *on, REAL *above, REAL *b, const INT *ldb,
                   INT *info) {
  *info = (INT)NAME(gtsv)(*n, *sides, below, on, above, b, 1, *ldb);
}
void FORTRAN(laswp)(const INT *n, REAL *a, const INT *lda, const INT *first, const INT *last, const INT *pivots,
                    const INT *inc) {
  NAME(laswp)(*n, a, 1, *lda, *first - 1, *last, pivots, *inc < 0);
}
void FORTRAN(lacpy)(const char *uplo, const INT *m, const INT *n, const REAL *a, const INT *lda, REAL *b,
                    const INT *ldb) {
  _Bool upper = is(uplo, 'u'), lower = is(uplo, 'l');
  for (whole j = 0; j < *n; j++)
    for (whole i = lower ? j : 0; i < (upper && j + 1 < *m ? j + 1 : *m); i++)
      b[i + j * *ldb] = a[i + j * *lda];
}

// Where room for work is asked for, as much as this code needs is little.
#define ASKED(work, room)                                                                                              \
  if (*room == -1) {                                                                                                   \
    *work = 1;                                                                                                         \
    *info = 0;                                                                                                         \
    return;                                                                                                            \
  }

#define ASKED_BOTH(work, room, wholes, rooms)                                                                          \
  if (*room == -1 || *rooms == -1) {                                                                                   \
    *work = 1, *wholes = 1;                                                                                            \
    *info = 0;                                                                                                         \
    return;                                                                                                            \
  }

void FORTRAN(geqrf)(const INT *m, const INT *n, REAL *a, const INT *lda, REAL *tau, REAL *work, const INT *room,
                    INT *info) {
  ASKED(work, room)
  NAME(geqrf)(*m, *n, a, 1, *lda, tau);
  *info = 0;
}
void FORTRAN(orgqr)(const INT *m, const INT *n, const INT *k, REAL *a, const INT *lda, const REAL *tau, REAL *work,
                    const INT *room, INT *info) {
  ASKED(work, room)
  NAME(orgqr)(*m, *n, *k, a, 1, *lda, tau);
  *info = 0;
}
void FORTRAN(ormqr)(const char *side, const char *trans, const INT *m, const INT *n, const INT *k, const REAL *a,
                    const INT *lda, const REAL *tau, REAL *c, const INT *ldc, REAL *work, const INT *room, INT *info) {
  ASKED(work, room)
  _Bool right = is(side, 'r'), t = moved(trans) != right;
  NAME(ormqr)(t, right ? *n : *m, right ? *m : *n, *k, a, 1, *lda, tau, c, RS(right, *ldc), CS(right, *ldc));
  *info = 0;
}
INLINE INT NAME(gels_on)(_Bool moves, whole m, whole n, whole sides, REAL *a, whole rs, whole cs, REAL *b, whole rsb,
                         whole csb) {
  // What has fewer rows than columns is transposed.
  _Bool wide = m < n;
  return (INT)NAME(gels)(moves != wide, wide ? n : m, wide ? m : n, sides, a, wide ? cs : rs, wide ? rs : cs, b, rsb,
                         csb);
}
void FORTRAN(gels)(const char *trans, const INT *m, const INT *n, const INT *sides, REAL *a, const INT *lda, REAL *b,
                   const INT *ldb, REAL *work, const INT *room, INT *info) {
  ASKED(work, room)
  *info = NAME(gels_on)(moved(trans), *m, *n, *sides, a, 1, *lda, b, 1, *ldb);
}
void FORTRAN(trtri)(const char *uplo, const char *diag, const INT *n, REAL *a, const INT *lda, INT *info) {
  _Bool lower = !is(uplo, 'u');
  *info = (INT)NAME(trtri)(is(diag, 'u'), *n, a, RS(lower, *lda), CS(lower, *lda));
}
void FORTRAN(potri)(const char *uplo, const INT *n, REAL *a, const INT *lda, INT *info) {
  *info = (INT)NAME(potri)(*n, a, RS(is(uplo, 'u'), *lda), CS(is(uplo, 'u'), *lda));
}
REAL FORTRAN(lange)(const char *norm, const INT *m, const INT *n, const REAL *a, const INT *lda, REAL *work) {
  (void)work;
  return NAME(lange)(norm, *m, *n, a, 1, *lda);
}
void FORTRAN(syev)(const char *job, const char *uplo, const INT *n, REAL *a, const INT *lda, REAL *w, REAL *work,
                   const INT *room, INT *info) {
  ASKED(work, room)
  *info = (INT)NAME(syev)(0, STEPS, is(job, 'v'), is(uplo, 'u'), *n, a, 1, *lda, w);
}
void FORTRAN(syevd)(const char *job, const char *uplo, const INT *n, REAL *a, const INT *lda, REAL *w, REAL *work,
                    const INT *room, INT *wholes, const INT *rooms, INT *info) {
  ASKED_BOTH(work, room, wholes, rooms)
  *info = (INT)NAME(syev)(0, DIVIDES, is(job, 'v'), is(uplo, 'u'), *n, a, 1, *lda, w);
}
void FORTRAN(syevr)(const char *job, const char *range, const char *uplo, const INT *n, REAL *a, const INT *lda,
                    const REAL *vl, const REAL *vu, const INT *il, const INT *iu, const REAL *least, INT *found,
                    REAL *w, REAL *z, const INT *ldz, INT *support, REAL *work, const INT *room, INT *wholes,
                    const INT *rooms, INT *info) {
  (void)vl, (void)vu, (void)il, (void)iu, (void)least;
  ASKED_BOTH(work, room, wholes, rooms)
  NAME(must_be)(is(range, 'a'));
  _Bool vectors = is(job, 'v');
  *info = (INT)NAME(syev)(0, REPRESENTS, vectors, is(uplo, 'u'), *n, a, 1, *lda, w);
  *found = *n;
  for (whole j = 0; vectors && j < *n; j++) {
    support[2 * j] = 1, support[2 * j + 1] = *n;
    NAME(copy)(*n, a + j * *lda, 1, z + j * *ldz, 1);
  }
}
void FORTRAN(sygv)(const INT *type, const char *job, const char *uplo, const INT *n, REAL *a, const INT *lda, REAL *b,
                   const INT *ldb, REAL *w, REAL *work, const INT *room, INT *info) {
  ASKED(work, room)
  NAME(must_be)(*type == 1);
  *info = (INT)NAME(sygv)(0, STEPS, is(job, 'v'), is(uplo, 'u'), *n, a, 1, *lda, b, 1, *ldb, w);
}
void FORTRAN(sygvd)(const INT *type, const char *job, const char *uplo, const INT *n, REAL *a, const INT *lda, REAL *b,
                    const INT *ldb, REAL *w, REAL *work, const INT *room, INT *wholes, const INT *rooms, INT *info) {
  ASKED_BOTH(work, room, wholes, rooms)
  NAME(must_be)(*type == 1);
  *info = (INT)NAME(sygv)(0, DIVIDES, is(job, 'v'), is(uplo, 'u'), *n, a, 1, *lda, b, 1, *ldb, w);
}
void FORTRAN(gelsd)(const INT *m, const INT *n, const INT *sides, REAL *a, const INT *lda, REAL *b, const INT *ldb,
                    REAL *values, const REAL *least, INT *rank, REAL *work, const INT *room, INT *wholes, INT *info) {
  ASKED_BOTH(work, room, wholes, room)
  *info = (INT)NAME(gelsd)(*m, *n, *sides, a, 1, *lda, b, 1, *ldb, values, *least, rank);
}
void FORTRAN(gesvd)(const char *jobu, const char *jobvt, const INT *m, const INT *n, REAL *a, const INT *lda,
                    REAL *values, REAL *u, const INT *ldu, REAL *vt, const INT *ldvt, REAL *work, const INT *room,
                    INT *info) {
  ASKED(work, room)
  *info = (INT)NAME(gesvd)(0, 0, NAME(wanted)(jobu), NAME(wanted)(jobvt), *m, *n, a, 1, *lda, values, u, 1, *ldu, vt, 1,
                           *ldvt);
}
void FORTRAN(gesdd)(const char *job, const INT *m, const INT *n, REAL *a, const INT *lda, REAL *values, REAL *u,
                    const INT *ldu, REAL *vt, const INT *ldvt, REAL *work, const INT *room, INT *wholes, INT *info) {
  (void)wholes;
  ASKED(work, room)
  *info = (INT)NAME(gesvd)(0, 1, NAME(wanted)(job), NAME(wanted)(job), *m, *n, a, 1, *lda, values, u, 1, *ldu, vt, 1,
                           *ldvt);
}
void FORTRAN(gesvx)(const char *fact, const char *trans, const INT *n, const INT *sides, REAL *a, const INT *lda,
                    REAL *af, const INT *ldaf, INT *pivots, char *equed, REAL *r, REAL *c, REAL *b, const INT *ldb,
                    REAL *x, const INT *ldx, REAL *rcond, REAL *ferr, REAL *berr, REAL *work, INT *wholes, INT *info) {
  (void)r, (void)c, (void)wholes;
  *info = (INT)NAME(gesvx)(fact, trans, *n, *sides, a, *lda, af, *ldaf, pivots, equed, b, *ldb, x, *ldx, rcond, ferr,
                           berr, work);
}
void FORTRAN(gbsvx)(const char *fact, const char *trans, const INT *n, const INT *kl, const INT *ku, const INT *sides,
                    REAL *a, const INT *lda, REAL *af, const INT *ldaf, INT *pivots, char *equed, REAL *r, REAL *c,
                    REAL *b, const INT *ldb, REAL *x, const INT *ldx, REAL *rcond, REAL *ferr, REAL *berr, REAL *work,
                    INT *wholes, INT *info) {
  (void)r, (void)c, (void)wholes;
  *info = (INT)NAME(gbsvx)(fact, trans, *n, *kl, *ku, *sides, a, *lda, af, *ldaf, pivots, equed, b, *ldb, x, *ldx,
                           rcond, ferr, berr, work);
}
void FORTRAN(posvx)(const char *fact, const char *uplo, const INT *n, const INT *sides, REAL *a, const INT *lda,
                    REAL *af, const INT *ldaf, char *equed, REAL *s, REAL *b, const INT *ldb, REAL *x, const INT *ldx,
                    REAL *rcond, REAL *ferr, REAL *berr, REAL *work, INT *wholes, INT *info) {
  (void)s, (void)work, (void)wholes;
  *info =
      (INT)NAME(posvx)(fact, is(uplo, 'u'), *n, *sides, a, *lda, af, *ldaf, equed, b, *ldb, x, *ldx, rcond, ferr, berr);
}
void FORTRAN(gecon)(const char *norm, const INT *n, const REAL *a, const INT *lda, const REAL *anorm, REAL *rcond,
                    REAL *work, INT *wholes, INT *info) {
  (void)work, (void)wholes;
  *rcond = NAME(gecon)(norm, *n, a, 1, *lda, *anorm);
  *info = 0;
}
void FORTRAN(pocon)(const char *uplo, const INT *n, const REAL *a, const INT *lda, const REAL *anorm, REAL *rcond,
                    REAL *work, INT *wholes, INT *info) {
  (void)work, (void)wholes;
  *rcond = NAME(pocon)(*n, a, RS(is(uplo, 'u'), *lda), CS(is(uplo, 'u'), *lda), *anorm);
  *info = 0;
}
void FORTRAN(trcon)(const char *norm, const char *uplo, const char *diag, const INT *n, const REAL *a, const INT *lda,
                    REAL *rcond, REAL *work, INT *wholes, INT *info) {
  (void)work, (void)wholes;
  *rcond = NAME(trcon)(norm, is(uplo, 'u'), is(diag, 'u'), *n, a, 1, *lda);
  *info = 0;
}
void FORTRAN(gbcon)(const char *norm, const INT *n, const INT *kl, const INT *ku, const REAL *a, const INT *lda,
                    const INT *pivots, const REAL *anorm, REAL *rcond, REAL *work, INT *wholes, INT *info) {
  (void)work, (void)wholes;
  *rcond = NAME(gbcon)(norm, *n, *kl, *ku, a, 1, *lda, pivots, *anorm);
  *info = 0;
}
void FORTRAN(pbtrf)(const char *uplo, const INT *n, const INT *kd, REAL *a, const INT *lda, INT *info) {
  *info = (INT)NAME(pbtrf)(is(uplo, 'u'), *n, *kd, a, 1, *lda);
}
void FORTRAN(pbtrs)(const char *uplo, const INT *n, const INT *kd, const INT *sides, const REAL *a, const INT *lda,
                    REAL *b, const INT *ldb, INT *info) {
  NAME(pbtrs)(is(uplo, 'u'), *n, *kd, *sides, a, 1, *lda, b, 1, *ldb);
  *info = 0;
}
void FORTRAN(gbtrf)(const INT *m, const INT *n, const INT *kl, const INT *ku, REAL *a, const INT *lda, INT *pivots,
                    INT *info) {
  *info = (INT)NAME(gbtrf)(*m, *n, *kl, *ku, a, 1, *lda, pivots);
}
void FORTRAN(gbtrs)(const char *trans, const INT *n, const INT *kl, const INT *ku, const INT *sides, const REAL *a,
                    const INT *lda, const INT *pivots, REAL *b, const INT *ldb, INT *info) {
  NAME(gbtrs)(moved(trans), *n, *kl, *ku, *sides, a, 1, *lda, pivots, b, 1, *ldb);
  *info = 0;
}
void FORTRAN(gbsv)(const INT *n, const INT *kl, const INT *ku, const INT *sides, REAL *a, const INT *lda, INT *pivots,
                   REAL *b, const INT *ldb, INT *info) {
  whole bad = NAME(gbtrf)(*n, *n, *kl, *ku, a, 1, *lda, pivots);
  *info = (INT)bad;
  if (!bad)
    NAME(gbtrs)(0, *n, *kl, *ku, *sides, a, 1, *lda, pivots, b, 1, *ldb);
}
void FORTRAN(pbsv)(const char *uplo, const INT *n, const INT *kd, const INT *sides, REAL *a, const INT *lda, REAL *b,
                   const INT *ldb, INT *info) {
  whole bad = NAME(pbtrf)(is(uplo, 'u'), *n, *kd, a, 1, *lda);
  *info = (INT)bad;
  if (!bad)
    NAME(pbtrs)(is(uplo, 'u'), *n, *kd, *sides, a, 1, *lda, b, 1, *ldb);
}
REAL FORTRAN(langb)(const char *norm, const INT *n, const INT *kl, const INT *ku, const REAL *a, const INT *lda,
                    REAL *work) {
  (void)work;
  return NAME(langb)(norm, *n, *kl, *ku, a, 1, *lda);
}
REAL FORTRAN(lansy)(const char *norm, const char *uplo, const INT *n, const REAL *a, const INT *lda, REAL *work) {
  (void)work;
  return NAME(lansy)(norm, is(uplo, 'u'), *n, a, 1, *lda);
}

// What is the upper half in columns is the lower one in rows.
INT LAPACKE(syev)(INT order, char job, char uplo, INT n, REAL *a, INT lda, REAL *w) {
  return (INT)NAME(syev)(1, STEPS, is(&job, 'v'), is(&uplo, 'u'), n, a, RS(order == ROWS, lda), CS(order == ROWS, lda),
                         w);
}
INT LAPACKE(syevd)(INT order, char job, char uplo, INT n, REAL *a, INT lda, REAL *w) {
  return (INT)NAME(syev)(1, DIVIDES, is(&job, 'v'), is(&uplo, 'u'), n, a, RS(order == ROWS, lda),
                         CS(order == ROWS, lda), w);
}
INT LAPACKE(sygv)(INT order, INT type, char job, char uplo, INT n, REAL *a, INT lda, REAL *b, INT ldb, REAL *w) {
  NAME(must_be)(type == 1);
  _Bool t = order == ROWS;
  return (INT)NAME(sygv)(1, STEPS, is(&job, 'v'), is(&uplo, 'u'), n, a, RS(t, lda), CS(t, lda), b, RS(t, ldb),
                         CS(t, ldb), w);
}
INT LAPACKE(gesvd)(INT order, char jobu, char jobvt, INT m, INT n, REAL *a, INT lda, REAL *values, REAL *u, INT ldu,
                   REAL *vt, INT ldvt, REAL *superb) {
  (void)superb;
  _Bool t = order == ROWS;
  return (INT)NAME(gesvd)(1, 0, NAME(wanted)(&jobu), NAME(wanted)(&jobvt), m, n, a, RS(t, lda), CS(t, lda), values, u,
                          RS(t, ldu), CS(t, ldu), vt, RS(t, ldvt), CS(t, ldvt));
}
INT LAPACKE(gesdd)(INT order, char job, INT m, INT n, REAL *a, INT lda, REAL *values, REAL *u, INT ldu, REAL *vt,
                   INT ldvt) {
  _Bool t = order == ROWS;
  return (INT)NAME(gesvd)(1, 1, NAME(wanted)(&job), NAME(wanted)(&job), m, n, a, RS(t, lda), CS(t, lda), values, u,
                          RS(t, ldu), CS(t, ldu), vt, RS(t, ldvt), CS(t, ldvt));
}
INT LAPACKE(gecon)(INT order, char norm, INT n, const REAL *a, INT lda, REAL anorm, REAL *rcond) {
  *rcond = NAME(gecon)(&norm, n, a, RS(order == ROWS, lda), CS(order == ROWS, lda), anorm);
  return 0;
}
INT LAPACKE(pocon)(INT order, char uplo, INT n, const REAL *a, INT lda, REAL anorm, REAL *rcond) {
  _Bool t = is(&uplo, 'u') != (order == ROWS);
  *rcond = NAME(pocon)(n, a, RS(t, lda), CS(t, lda), anorm);
  return 0;
}
INT LAPACKE(potrf)(INT order, char uplo, INT n, REAL *a, INT lda) {
  _Bool t = is(&uplo, 'u') != (order == ROWS);
  return (INT)NAME(potrf)(n, a, RS(t, lda), CS(t, lda));
}
INT LAPACKE(potrs)(INT order, char uplo, INT n, INT sides, const REAL *a, INT lda, REAL *b, INT ldb) {
  _Bool t = is(&uplo, 'u') != (order == ROWS);
  NAME(potrs)(n, sides, a, RS(t, lda), CS(t, lda), b, RS(order == ROWS, ldb), CS(order == ROWS, ldb));
  return 0;
}
INT LAPACKE(posv)(INT order, char uplo, INT n, INT sides, REAL *a, INT lda, REAL *b, INT ldb) {
  INT bad = LAPACKE(potrf)(order, uplo, n, a, lda);
  return bad ? bad : LAPACKE(potrs)(order, uplo, n, sides, a, lda, b, ldb);
}
INT LAPACKE(getrf)(INT order, INT m, INT n, REAL *a, INT lda, INT *pivots) {
  return (INT)NAME(getrf)(m, n, a, RS(order == ROWS, lda), CS(order == ROWS, lda), pivots);
}
INT LAPACKE(getrs)(INT order, char trans, INT n, INT sides, const REAL *a, INT lda, const INT *pivots, REAL *b,
                   INT ldb) {
  NAME(getrs)(moved(&trans), n, sides, a, RS(order == ROWS, lda), CS(order == ROWS, lda), pivots, b,
              RS(order == ROWS, ldb), CS(order == ROWS, ldb));
  return 0;
}
INT LAPACKE(gesv)(INT order, INT n, INT sides, REAL *a, INT lda, INT *pivots, REAL *b, INT ldb) {
  INT bad = LAPACKE(getrf)(order, n, n, a, lda, pivots);
  return bad ? bad : LAPACKE(getrs)(order, 'N', n, sides, a, lda, pivots, b, ldb);
}
INT LAPACKE(getri)(INT order, INT n, REAL *a, INT lda, const INT *pivots) {
  return (INT)NAME(getri)(n, a, RS(order == ROWS, lda), CS(order == ROWS, lda), pivots);
}
INT LAPACKE(trtrs)(INT order, char uplo, char trans, char diag, INT n, INT sides, const REAL *a, INT lda, REAL *b,
                   INT ldb) {
  _Bool moves = moved(&trans), t = moves != (order == ROWS);
  return (INT)NAME(trtrs)(is(&uplo, 'u') != moves, is(&diag, 'u'), n, sides, a, RS(t, lda), CS(t, lda), b,
                          RS(order == ROWS, ldb), CS(order == ROWS, ldb));
}
INT LAPACKE(gtsv)(INT order, INT n, INT sides, REAL *below, REAL *on, REAL *above, REAL *b, INT ldb) {
  return (INT)NAME(gtsv)(n, sides, below, on, above, b, RS(order == ROWS, ldb), CS(order == ROWS, ldb));
}
INT LAPACKE(geqrf)(INT order, INT m, INT n, REAL *a, INT lda, REAL *tau) {
  NAME(geqrf)(m, n, a, RS(order == ROWS, lda), CS(order == ROWS, lda), tau);
  return 0;
}
INT LAPACKE(orgqr)(INT order, INT m, INT n, INT k, REAL *a, INT lda, const REAL *tau) {
  NAME(orgqr)(m, n, k, a, RS(order == ROWS, lda), CS(order == ROWS, lda), tau);
  return 0;
}
INT LAPACKE(gels)(INT order, char trans, INT m, INT n, INT sides, REAL *a, INT lda, REAL *b, INT ldb) {
  _Bool rows = order == ROWS;
  return NAME(gels_on)(moved(&trans), m, n, sides, a, RS(rows, lda), CS(rows, lda), b, RS(rows, ldb), CS(rows, ldb));
}

#undef ASKED
#undef ASKED_BOTH
#undef FORTRAN
#undef OF_FORTRAN
#undef CBLAS
#undef OF_CBLAS
#undef LAPACKE
#undef RS
#undef CS
#undef SOME
#undef ON_VECTOR
#undef ON_MATRIX
