// The rules of products.c for one type, REAL.

struct NAME(adjoints) {
  REAL alpha, beta;
};

// C += alpha A B by the library's kernel, with the strides that it asks for.
void NAME(kernel)(whole m, whole k, whole n, REAL alpha, const REAL *a, whole lda, const REAL *b, whole ldb, REAL *c,
                  whole rsc, whole ldc);

// The function that these are rules of.
void NAME(multiply)(whole m, whole k, whole n, REAL alpha, const REAL *a, whole rsa, whole csa, const REAL *b,
                    whole rsb, whole csb, REAL beta, REAL *c, whole rsc, whole csc);

INLINE void NAME(copy)(whole rows, whole columns, const REAL *restrict from, whole rs, whole cs, REAL *restrict to,
                       whole to_rs, whole to_cs) {
  if (rs == 1 && to_rs == 1) {
    for (whole j = 0; j < columns; j++)
      for (whole i = 0; i < rows; i++)
        to[i + j * to_cs] = from[i + j * cs];
  } else if (cs == 1 && to_cs == 1) {
    for (whole i = 0; i < rows; i++)
      for (whole j = 0; j < columns; j++)
        to[i * to_rs + j] = from[i * rs + j];
  } else {
    // In blocks that stay in the cache whichever way they are walked through.
    enum { SIDE = 16 };
    for (whole jj = 0; jj < columns; jj += SIDE)
      for (whole ii = 0; ii < rows; ii += SIDE) {
        whole end_i = ii + SIDE < rows ? ii + SIDE : rows, end_j = jj + SIDE < columns ? jj + SIDE : columns;
        for (whole i = ii; i < end_i; i++)
          for (whole j = jj; j < end_j; j++)
            to[i * to_rs + j * to_cs] = from[i * rs + j * cs];
      }
  }
}

// y += x0 s0 + x1 s1 + x2 s2 + x3 s3, for columns `x0`, ... that lie `step` apart.
INLINE void NAME(add_four)(whole length, const REAL *restrict x, whole step, REAL s0, REAL s1, REAL s2, REAL s3,
                           REAL *restrict y) {
  const REAL *x1 = x + step, *x2 = x1 + step, *x3 = x2 + step;
  for (whole i = 0; i < length; i++)
    y[i] += (x[i] * s0 + x1[i] * s1) + (x2[i] * s2 + x3[i] * s3);
}

INLINE void NAME(add_one)(whole length, const REAL *restrict x, REAL s, REAL *restrict y) {
  for (whole i = 0; i < length; i++)
    y[i] += x[i] * s;
}

// Sums of lanes, so that vectors may take them whatever the order of a plain sum is.
INLINE REAL NAME(dot)(whole length, const REAL *restrict x, const REAL *restrict y) {
  REAL sums[8] = {0}, rest = 0;
  whole i = 0;
  for (; i + 8 <= length; i += 8) {
#pragma clang loop unroll(full)
    for (int lane = 0; lane < 8; lane++)
      sums[lane] += x[i + lane] * y[i + lane];
  }
  for (; i < length; i++)
    rest += x[i] * y[i];
  return ((sums[0] + sums[4]) + (sums[1] + sums[5])) + ((sums[2] + sums[6]) + (sums[3] + sums[7])) + rest;
}

// C += alpha A B, without copies.
static void NAME(loops)(whole m, whole k, whole n, REAL alpha, const REAL *a, whole rsa, whole csa, const REAL *b,
                        whole rsb, whole csb, REAL *c, whole rsc, whole csc) {
  if (rsc == 1 && rsa == 1) {
    for (whole j = 0; j < n; j++) {
      whole p = 0;
      for (; p + 4 <= k; p += 4) {
        const REAL *s = b + p * rsb + j * csb;
        NAME(add_four)(m, a + p * csa, csa, alpha * s[0], alpha * s[rsb], alpha * s[2 * rsb], alpha * s[3 * rsb],
                       c + j * csc);
      }
      for (; p < k; p++)
        NAME(add_one)(m, a + p * csa, alpha * b[p * rsb + j * csb], c + j * csc);
    }
  } else if (csc == 1 && csb == 1) {
    for (whole i = 0; i < m; i++) {
      whole p = 0;
      for (; p + 4 <= k; p += 4) {
        const REAL *s = a + i * rsa + p * csa;
        NAME(add_four)(n, b + p * rsb, rsb, alpha * s[0], alpha * s[csa], alpha * s[2 * csa], alpha * s[3 * csa],
                       c + i * rsc);
      }
      for (; p < k; p++)
        NAME(add_one)(n, b + p * rsb, alpha * a[i * rsa + p * csa], c + i * rsc);
    }
  } else if (csa == 1 && rsb == 1) {
    for (whole j = 0; j < n; j++)
      for (whole i = 0; i < m; i++)
        c[i * rsc + j * csc] += alpha * NAME(dot)(k, a + i * rsa, b + j * csb);
  } else {
    for (whole j = 0; j < n; j++)
      for (whole p = 0; p < k; p++) {
        REAL s = alpha * b[p * rsb + j * csb];
        for (whole i = 0; i < m; i++)
          c[i * rsc + j * csc] += a[i * rsa + p * csa] * s;
      }
  }
}

// C += alpha A B, one addition after the other: elements of C may share places. Where a factor that is a derivative
// stays zero whatever it is multiplied by, `side` says which it is.
static void NAME(in_turn)(whole m, whole k, whole n, REAL alpha, const REAL *a, whole rsa, whole csa, const REAL *b,
                          whole rsb, whole csb, REAL *c, whole rsc, whole csc, int side) {
  for (whole j = 0; j < n; j++)
    for (whole p = 0; p < k; p++)
      for (whole i = 0; i < m; i++) {
        REAL x = a[i * rsa + p * csa], y = b[p * rsb + j * csb];
        if (side && (side == LEFT ? x : y) == 0)
          continue;
        c[i * rsc + j * csc] += x * y * alpha;
      }
}

// C += alpha A B by a kernel that takes operands as `layout` says.
void NAME(general)(whole m, whole k, whole n, REAL alpha, const REAL *a, whole rsa, whole csa, const REAL *b, whole rsb,
                   whole csb, REAL *c, whole rsc, whole csc, int layout) {
  if (m <= 0 || k <= 0 || n <= 0)
    return;
  _Bool rows_a = (layout & ROWS_OF_A) != 0, rows_b = (layout & ROWS_OF_B) != 0;
  _Bool fits_a = (rows_a ? csa : rsa) == 1, fits_b = (rows_b ? csb : rsb) == 1 || layout & STRIDED_B;
  _Bool fits_c = rsc == 1 || layout & STRIDED_C;
  whole lda = rows_a ? rsa : csa;
  if (layout & VECTOR) {
    if (fits_a && fits_b && fits_c && n == 1)
      NAME(kernel)(m, k, n, alpha, a, lda, b, rsb, c, rsc, csc);
    else
      NAME(loops)(m, k, n, alpha, a, rsa, csa, b, rsb, csb, c, rsc, csc);
    return;
  }
  if (fits_a && fits_b && fits_c) {
    NAME(kernel)(m, k, n, alpha, a, lda, b, rows_b ? rsb : csb, c, rsc, csc);
    return;
  }
  if (m == 1 || k == 1 || n == 1 || m * k * n <= SMALL) {
    NAME(loops)(m, k, n, alpha, a, rsa, csa, b, rsb, csb, c, rsc, csc);
    return;
  }
  // C^T = B^T A^T may take fewer copies.
  _Bool other_a = (rows_a ? rsb : csb) == 1, other_b = (rows_b ? rsa : csa) == 1;
  _Bool other_c = csc == 1 || layout & STRIDED_C;
  whole copied = (fits_a ? 0 : m * k) + (fits_b ? 0 : k * n) + (fits_c ? 0 : 2 * m * n);
  whole other = (other_a ? 0 : k * n) + (other_b ? 0 : m * k) + (other_c ? 0 : 2 * m * n);
  if (other < copied) {
    const REAL *left = a;
    whole left_rs = rsa, left_cs = csa, rows = m, stride = rsc;
    a = b, rsa = csb, csa = rsb, m = n;
    b = left, rsb = left_cs, csb = left_rs, n = rows;
    rsc = csc, csc = stride;
    fits_a = other_a, fits_b = other_b, fits_c = other_c;
    copied = other;
  }
  REAL *memory = copied ? some_memory((whole)sizeof(REAL) * copied) : 0, *at = memory;
  if (!fits_a) {
    NAME(copy)(m, k, a, rsa, csa, at, rows_a ? k : 1, rows_a ? 1 : m);
    a = at, rsa = rows_a ? k : 1, csa = rows_a ? 1 : m;
    at += m * k;
  }
  if (!fits_b) {
    NAME(copy)(k, n, b, rsb, csb, at, rows_b ? n : 1, rows_b ? 1 : k);
    b = at, rsb = rows_b ? n : 1, csb = rows_b ? 1 : k;
    at += k * n;
  }
  REAL *target = c;
  whole target_rs = rsc, target_cs = csc;
  if (!fits_c) {
    target = at, target_rs = 1, target_cs = m;
    for (whole i = 0; i < m * n; i++)
      target[i] = 0;
  }
  NAME(kernel)(m, k, n, alpha, a, rows_a ? rsa : csa, b, rows_b ? rsb : csb, target, target_rs, target_cs);
  if (!fits_c)
    for (whole j = 0; j < n; j++)
      for (whole i = 0; i < m; i++)
        c[i * rsc + j * csc] += target[i + j * m];
  free(memory);
}

// What BLAS computes, of matrices that lie in columns. Not every program has it that names another function of BLAS.
_Bool NAME(is_linked)(void);
void NAME(gemm)(_Bool ta, _Bool tb, whole m, whole n, whole k, REAL alpha, const REAL *a, whole lda, const REAL *b,
                whole ldb, REAL beta, REAL *c, whole ldc);

// How far apart the columns of a matrix lie, or those of its transpose; 0 if it lies in no such way.
INLINE whole NAME(leading)(whole rows, whole columns, whole rs, whole cs, _Bool *transposed) {
  *transposed = 0;
  if ((rs == 1 || rows == 1) && (cs >= rows || columns == 1))
    return columns == 1 ? rows : cs;
  *transposed = 1;
  if ((cs == 1 || columns == 1) && (rs >= columns || rows == 1))
    return rows == 1 ? columns : rs;
  return 0;
}

// C = alpha A B + beta C by BLAS, where that takes operands as they lie.
void NAME(by_library)(whole m, whole k, whole n, REAL alpha, const REAL *a, whole rsa, whole csa, const REAL *b,
                      whole rsb, whole csb, REAL beta, REAL *c, whole rsc, whole csc) {
  if (m <= 0 || n <= 0)
    return;
  const _Bool is_large = m > 1 && k > 1 && n > 1 && m * k * n > SMALL;
  if (is_large && alpha != 0 && NAME(is_linked)()) {
    _Bool ta, tb, tc;
    whole lda = NAME(leading)(m, k, rsa, csa, &ta), ldb = NAME(leading)(k, n, rsb, csb, &tb);
    whole ldc = NAME(leading)(m, n, rsc, csc, &tc);
    if (lda && ldb && ldc) {
      // C^T = B^T A^T.
      if (tc)
        NAME(gemm)(!tb, !ta, n, m, k, alpha, b, ldb, a, lda, beta, c, ldc);
      else
        NAME(gemm)(ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
      return;
    }
  }
  if (beta != 1)
    for (whole j = 0; j < n; j++)
      for (whole i = 0; i < m; i++)
        c[i * rsc + j * csc] = beta == 0 ? 0 : beta * c[i * rsc + j * csc];
  if (k > 0 && alpha != 0)
    NAME(loops)(m, k, n, alpha, a, rsa, csa, b, rsb, csb, c, rsc, csc);
}

// C += alpha A B for a derivative C, of which the factor at `side` is another.
INLINE void NAME(add)(whole m, whole k, whole n, REAL alpha, const REAL *a, whole rsa, whole csa, const REAL *b,
                      whole rsb, whole csb, REAL *c, whole rsc, whole csc, int side, int flags) {
  if (m <= 0 || k <= 0 || n <= 0)
    return;
  if (flags & ATOMIC) {
    REAL *sum = some_memory((whole)sizeof(REAL) * m * n);
    for (whole i = 0; i < m * n; i++)
      sum[i] = 0;
    if (flags & STRONG_ZERO)
      NAME(in_turn)(m, k, n, alpha, a, rsa, csa, b, rsb, csb, sum, 1, m, side);
    else
      NAME(multiply)(m, k, n, alpha, a, rsa, csa, b, rsb, csb, 1, sum, 1, m);
    for (whole j = 0; j < n; j++)
      for (whole i = 0; i < m; i++)
        __atomic_fetch_add(c + i * rsc + j * csc, sum[i + j * m], __ATOMIC_RELAXED);
    free(sum);
  } else if (flags & STRONG_ZERO) {
    NAME(in_turn)(m, k, n, alpha, a, rsa, csa, b, rsb, csb, c, rsc, csc, side);
  } else if (apart(m, n, rsc, csc)) {
    NAME(multiply)(m, k, n, alpha, a, rsa, csa, b, rsb, csb, 1, c, rsc, csc);
  } else {
    NAME(in_turn)(m, k, n, alpha, a, rsa, csa, b, rsb, csb, c, rsc, csc, 0);
  }
}

// The derivative of what beta C was computed of.
INLINE void NAME(scale)(whole m, whole n, REAL beta, REAL *c, whole rsc, whole csc) {
  if (beta == 1)
    return;
  for (whole j = 0; j < n; j++)
    for (whole i = 0; i < m; i++)
      c[i * rsc + j * csc] = beta == 0 ? 0 : beta * c[i * rsc + j * csc];
}

// Keeps what the reverse rule needs and is overwritten before: one behind the other, A, B, C.
void *NAME(augmented)(whole m, whole k, whole n, REAL alpha, const REAL *a, REAL *da, whole rsa, whole csa,
                      const REAL *b, REAL *db, whole rsb, whole csb, REAL beta, REAL *c, REAL *dc, whole rsc, whole csc,
                      int flags) {
  REAL *memory = 0;
  if (dc && m > 0 && n > 0) {
    whole of_a = flags & KEEP_A && k > 0 && (db || flags & ACTIVE_ALPHA) ? m * k : 0;
    whole of_b = flags & KEEP_B && k > 0 && (da || flags & ACTIVE_ALPHA) ? k * n : 0;
    whole of_c = flags & ACTIVE_BETA && beta != 0 ? m * n : 0;
    if (of_a + of_b + of_c) {
      memory = some_memory((whole)sizeof(REAL) * (of_a + of_b + of_c));
      if (of_a)
        NAME(copy)(m, k, a, rsa, csa, memory, kept_rs(k, csa), kept_cs(m, csa));
      if (of_b)
        NAME(copy)(k, n, b, rsb, csb, memory + of_a, kept_rs(n, csb), kept_cs(k, csb));
      if (of_c)
        NAME(copy)(m, n, c, rsc, csc, memory + of_a + of_b, 1, m);
    }
  }
  NAME(multiply)(m, k, n, alpha, a, rsa, csa, b, rsb, csb, beta, c, rsc, csc);
  return memory;
}

struct NAME(adjoints) NAME(reverse)(whole m, whole k, whole n, REAL alpha, const REAL *a, REAL *da, whole rsa,
                                    whole csa, const REAL *b, REAL *db, whole rsb, whole csb, REAL beta, REAL *c,
                                    REAL *dc, whole rsc, whole csc, int flags, const REAL *tape) {
  struct NAME(adjoints) out = {0, 0};
  if (!dc || m <= 0 || n <= 0)
    return out;
  whole rs_of_da = rsa, cs_of_da = csa, rs_of_db = rsb, cs_of_db = csb;
  if (flags & KEEP_A && k > 0 && (db || flags & ACTIVE_ALPHA)) {
    a = tape;
    tape += m * k;
    rsa = kept_rs(k, cs_of_da), csa = kept_cs(m, cs_of_da);
  }
  if (flags & KEEP_B && k > 0 && (da || flags & ACTIVE_ALPHA)) {
    b = tape;
    tape += k * n;
    rsb = kept_rs(n, cs_of_db), csb = kept_cs(k, cs_of_db);
  }
  if (flags & ACTIVE_ALPHA && k > 0) {
    REAL *slopes = some_memory((whole)sizeof(REAL) * m * k), sum = 0;
    for (whole i = 0; i < m * k; i++)
      slopes[i] = 0;
    NAME(add)(m, n, k, 1, dc, rsc, csc, b, csb, rsb, slopes, 1, m, LEFT, flags & STRONG_ZERO);
    for (whole p = 0; p < k; p++)
      for (whole i = 0; i < m; i++)
        if (!(flags & STRONG_ZERO) || slopes[i + p * m] != 0)
          sum += slopes[i + p * m] * a[i * rsa + p * csa];
    out.alpha = sum;
    free(slopes);
  }
  if (da)
    NAME(add)(m, n, k, alpha, dc, rsc, csc, b, csb, rsb, da, rs_of_da, cs_of_da, LEFT, flags);
  if (db)
    NAME(add)(k, m, n, alpha, a, csa, rsa, dc, rsc, csc, db, rs_of_db, cs_of_db, RIGHT, flags);
  if (flags & ACTIVE_BETA && beta != 0) {
    REAL sum = 0;
    for (whole j = 0; j < n; j++)
      for (whole i = 0; i < m; i++)
        if (!(flags & STRONG_ZERO) || dc[i * rsc + j * csc] != 0)
          sum += dc[i * rsc + j * csc] * tape[i + j * m];
    out.beta = sum;
  }
  NAME(scale)(m, n, beta, dc, rsc, csc);
  return out;
}

// The tangent alone, before C is overwritten.
void NAME(forward)(whole m, whole k, whole n, REAL alpha, REAL dalpha, const REAL *a, const REAL *da, whole rsa,
                   whole csa, const REAL *b, const REAL *db, whole rsb, whole csb, REAL beta, REAL dbeta, REAL *c,
                   REAL *dc, whole rsc, whole csc, int flags) {
  if (!dc || m <= 0 || n <= 0)
    return;
  flags &= ~ATOMIC;
  NAME(scale)(m, n, beta, dc, rsc, csc);
  if (flags & ACTIVE_BETA && beta != 0)
    for (whole j = 0; j < n; j++)
      for (whole i = 0; i < m; i++)
        if (!(flags & STRONG_ZERO) || dbeta != 0)
          dc[i * rsc + j * csc] += dbeta * c[i * rsc + j * csc];
  if (da)
    NAME(add)(m, k, n, alpha, da, rsa, csa, b, rsb, csb, dc, rsc, csc, LEFT, flags);
  if (db)
    NAME(add)(m, k, n, alpha, a, rsa, csa, db, rsb, csb, dc, rsc, csc, RIGHT, flags);
  if (flags & ACTIVE_ALPHA && (!(flags & STRONG_ZERO) || dalpha != 0))
    NAME(add)(m, k, n, dalpha, a, rsa, csa, b, rsb, csb, dc, rsc, csc, LEFT, flags & ~STRONG_ZERO);
}

// C = alpha A B + beta C for the elements at and below the diagonal of C; the others are neither read nor written. Beta
// is 0 or 1. What is left of the triangle after its blocks at the diagonal are halves: of squares that touch it, each
// is one product.
void NAME(part)(whole m, whole k, whole n, REAL alpha, const REAL *a, whole rsa, whole csa, const REAL *b, whole rsb,
                whole csb, REAL beta, REAL *c, whole rsc, whole csc) {
  enum { SIDE = 16 };
  for (whole at = 0; at < m && at < n; at += SIDE) {
    REAL block[SIDE * SIDE];
    whole rows = m - at < SIDE ? m - at : SIDE, columns = n - at < SIDE ? n - at : SIDE;
    NAME(multiply)(rows, k, columns, alpha, a + at * rsa, rsa, csa, b + at * csb, rsb, csb, 0, block, 1, SIDE);
    for (whole j = 0; j < columns; j++)
      for (whole i = j; i < rows; i++) {
        REAL *to = c + (at + i) * rsc + (at + j) * csc, sum = block[i + j * SIDE];
        *to = beta == 0 ? sum : *to + sum;
      }
  }
  for (whole side = SIDE; side < m; side *= 2)
    for (whole column = 0; column < n && column + side < m; column += 2 * side) {
      whole row = column + side;
      whole rows = m - row < side ? m - row : side, columns = n - column < side ? n - column : side;
      NAME(multiply)(rows, k, columns, alpha, a + row * rsa, rsa, csa, b + column * csb, rsb, csb, beta,
                     c + row * rsc + column * csc, rsc, csc);
    }
}
