// The bodies of blas.c for one type, REAL.
//
// A matrix is where its element (0, 0) lies and two strides, so that transposing it is to exchange those, and that rows
// which lie one after the other need no other code than columns. What is subtracted from a value is a product of others
// that do not change any more: a reverse sweep needs none of the values between. Matrices are worked through in blocks,
// and what is outside of these is a product (products.c), which has a rule.

// C = alpha A B + beta C: A has m rows and k columns.
void NAME(product)(whole m, whole k, whole n, REAL alpha, const REAL *a, whole rsa, whole csa, const REAL *b, whole rsb,
                   whole csb, REAL beta, REAL *c, whole rsc, whole csc);

// The same by loops, where products have no rules.
void NAME(plain_product)(whole m, whole k, whole n, REAL alpha, const REAL *a, whole rsa, whole csa, const REAL *b,
                         whole rsb, whole csb, REAL beta, REAL *c, whole rsc, whole csc) {
  for (whole j = 0; j < n; j++)
    for (whole i = 0; i < m; i++) {
      REAL sum = 0;
      for (whole p = 0; p < k; p++)
        sum += a[i * rsa + p * csa] * b[p * rsb + j * csb];
      REAL *to = c + i * rsc + j * csc;
      *to = beta == 0 ? alpha * sum : beta * *to + alpha * sum;
    }
}

INLINE REAL NAME(dot)(whole n, const REAL *x, whole incx, const REAL *y, whole incy) {
  REAL sum = 0;
  for (whole i = 0; i < n; i++)
    sum += x[i * incx] * y[i * incy];
  return sum;
}

// A sum of squares has no derivative in floats where it is zero; that of its root is taken for zero there.
INLINE REAL NAME(nrm2)(whole n, const REAL *x, whole inc) {
  REAL sum = 0;
  for (whole i = 0; i < n; i++)
    sum += x[i * inc] * x[i * inc];
  return sum == 0 ? 0 : ROOT(sum);
}

INLINE REAL NAME(asum)(whole n, const REAL *x, whole inc) {
  REAL sum = 0;
  for (whole i = 0; i < n; i++)
    sum += x[i * inc] < 0 ? -x[i * inc] : x[i * inc];
  return sum;
}

INLINE whole NAME(iamax)(whole n, const REAL *x, whole inc) {
  whole best = 0;
  REAL most = 0;
  for (whole i = 0; i < n; i++) {
    REAL size = x[i * inc] < 0 ? -x[i * inc] : x[i * inc];
    if (i == 0 || size > most)
      most = size, best = i;
  }
  return best;
}

INLINE void NAME(axpy)(whole n, REAL alpha, const REAL *x, whole incx, REAL *y, whole incy) {
  for (whole i = 0; i < n; i++)
    y[i * incy] += alpha * x[i * incx];
}

INLINE void NAME(scal)(whole n, REAL alpha, REAL *x, whole inc) {
  for (whole i = 0; i < n; i++)
    x[i * inc] *= alpha;
}

INLINE void NAME(copy)(whole n, const REAL *x, whole incx, REAL *y, whole incy) {
  for (whole i = 0; i < n; i++)
    y[i * incy] = x[i * incx];
}

INLINE void NAME(swap)(whole n, REAL *x, whole incx, REAL *y, whole incy) {
  for (whole i = 0; i < n; i++) {
    REAL kept = x[i * incx];
    x[i * incx] = y[i * incy];
    y[i * incy] = kept;
  }
}

INLINE void NAME(rot)(whole n, REAL *x, whole incx, REAL *y, whole incy, REAL c, REAL s) {
  for (whole i = 0; i < n; i++) {
    REAL u = x[i * incx], v = y[i * incy];
    x[i * incx] = c * u + s * v;
    y[i * incy] = c * v - s * u;
  }
}

// y = beta y, which is not read where beta is zero.
INLINE void NAME(scale)(whole n, REAL beta, REAL *y, whole inc) {
  if (beta == 0)
    for (whole i = 0; i < n; i++)
      y[i * inc] = 0;
  else if (beta != 1)
    for (whole i = 0; i < n; i++)
      y[i * inc] *= beta;
}

INLINE void NAME(ger)(whole m, whole n, REAL alpha, const REAL *x, whole incx, const REAL *y, whole incy, REAL *a,
                      whole rs, whole cs) {
  for (whole j = 0; j < n; j++)
    for (whole i = 0; i < m; i++)
      a[i * rs + j * cs] += alpha * x[i * incx] * y[j * incy];
}

// Element (i, j) of a symmetric matrix of which one half is stored.
INLINE REAL NAME(half)(_Bool upper, const REAL *a, whole rs, whole cs, whole i, whole j) {
  return (i < j) == upper || i == j ? a[i * rs + j * cs] : a[j * rs + i * cs];
}

INLINE void NAME(symv)(_Bool upper, whole n, REAL alpha, const REAL *a, whole rs, whole cs, const REAL *x, whole incx,
                       REAL beta, REAL *y, whole incy) {
  for (whole i = 0; i < n; i++) {
    REAL sum = 0;
    for (whole j = 0; j < n; j++)
      sum += NAME(half)(upper, a, rs, cs, i, j) * x[j * incx];
    y[i * incy] = beta == 0 ? alpha * sum : beta * y[i * incy] + alpha * sum;
  }
}

// A += alpha (x y^T + y x^T) in one half; x y^T alone if `once`.
INLINE void NAME(syr2)(_Bool upper, whole n, REAL alpha, const REAL *x, whole incx, const REAL *y, whole incy, REAL *a,
                       whole rs, whole cs, _Bool once) {
  for (whole j = 0; j < n; j++)
    for (whole i = upper ? 0 : j; i < (upper ? j + 1 : n); i++) {
      REAL sum = x[i * incx] * y[j * incy];
      if (!once)
        sum += y[i * incy] * x[j * incx];
      a[i * rs + j * cs] += alpha * sum;
    }
}

// x = A x for a triangle.
INLINE void NAME(trmv)(_Bool upper, _Bool unit, whole n, const REAL *a, whole rs, whole cs, REAL *x, whole inc) {
  for (whole k = 0; k < n; k++) {
    whole i = upper ? k : n - 1 - k;
    REAL sum = unit ? x[i * inc] : a[i * rs + i * cs] * x[i * inc];
    for (whole j = upper ? i + 1 : 0; j < (upper ? n : i); j++)
      sum += a[i * rs + j * cs] * x[j * inc];
    x[i * inc] = sum;
  }
}

// Solves A x = x for a triangle: by sums where rows lie together, else by columns.
INLINE void NAME(trsv)(_Bool upper, _Bool unit, whole n, const REAL *a, whole rs, whole cs, REAL *x, whole inc) {
  for (whole k = 0; k < n; k++) {
    whole i = upper ? n - 1 - k : k, first = upper ? i + 1 : 0, end = upper ? n : i;
    REAL sum = x[i * inc];
    if (cs == 1)
      for (whole j = first; j < end; j++)
        sum -= a[i * rs + j] * x[j * inc];
    if (!unit)
      sum /= a[i * (rs + cs)];
    x[i * inc] = sum;
    if (cs != 1)
      for (whole j = upper ? 0 : i + 1; j < (upper ? i : n); j++)
        x[j * inc] -= a[j * rs + i * cs] * sum;
  }
}

// Y = alpha A X + beta Y for a band of `kl` diagonals below and `ku` above the main one; element (i, j) lies at
// a[(ku + i - j) * rs + j * cs].
INLINE void NAME(gbmv)(whole m, whole n, whole kl, whole ku, REAL alpha, const REAL *a, whole rs, whole cs,
                       const REAL *x, whole incx, REAL beta, REAL *y, whole incy, _Bool transposed) {
  NAME(scale)(transposed ? n : m, beta, y, incy);
  for (whole j = 0; j < n; j++)
    for (whole i = j > ku ? j - ku : 0; i < m && i <= j + kl; i++) {
      whole to = transposed ? j : i, of = transposed ? i : j;
      y[to * incy] += alpha * a[(ku + i - j) * rs + j * cs] * x[of * incx];
    }
}

// Solves A X = B for a triangle A of m rows.
SHARED void NAME(trsm)(_Bool upper, _Bool unit, whole m, whole n, const REAL *a, whole rsa, whole csa, REAL *b,
                       whole rsb, whole csb) {
  for (whole done = 0; done < m; done += SIDE) {
    whole rows = m - done < SIDE ? m - done : SIDE, left = m - done - rows;
    whole at = upper ? left : done, rest = upper ? 0 : done + rows;
    for (whole j = 0; j < n; j++)
      NAME(trsv)(upper, unit, rows, a + at * (rsa + csa), rsa, csa, b + at * rsb + j * csb, rsb);
    if (left)
      NAME(product)(left, rows, n, -1, a + rest * rsa + at * csa, rsa, csa, b + at * rsb, rsb, csb, 1, b + rest * rsb,
                    rsb, csb);
  }
}

// B = A B for a triangle A of m rows.
SHARED void NAME(trmm)(_Bool upper, _Bool unit, whole m, whole n, const REAL *a, whole rsa, whole csa, REAL *b,
                       whole rsb, whole csb) {
  for (whole done = 0; done < m; done += SIDE) {
    whole rows = m - done < SIDE ? m - done : SIDE, left = m - done - rows;
    whole at = upper ? done : left, rest = upper ? done + rows : 0;
    for (whole j = 0; j < n; j++)
      NAME(trmv)(upper, unit, rows, a + at * (rsa + csa), rsa, csa, b + at * rsb + j * csb, rsb);
    if (left)
      NAME(product)(rows, left, n, 1, a + at * rsa + rest * csa, rsa, csa, b + rest * rsb, rsb, csb, 1, b + at * rsb,
                    rsb, csb);
  }
}

INLINE void NAME(scale_all)(whole m, whole n, REAL alpha, REAL *b, whole rs, whole cs) {
  if (alpha != 1)
    for (whole j = 0; j < n; j++)
      NAME(scale)(m, alpha, b + j * cs, rs);
}

// C = alpha A B + beta C for a symmetric A of m rows of which one half is stored.
SHARED void NAME(symm)(_Bool upper, whole m, whole n, REAL alpha, const REAL *a, whole rsa, whole csa, const REAL *b,
                       whole rsb, whole csb, REAL beta, REAL *c, whole rsc, whole csc) {
  for (whole j = 0; j < n; j++)
    NAME(symv)(upper, m, alpha, a, rsa, csa, b + j * csb, rsb, beta, c + j * csc, rsc);
}

// C = alpha A B^T + beta C in one half of C, which has n rows; A and B have k columns.
SHARED void NAME(half_product)(_Bool upper, whole n, whole k, REAL alpha, const REAL *a, whole rsa, whole csa,
                               const REAL *b, whole rsb, whole csb, REAL beta, REAL *c, whole rsc, whole csc) {
  for (whole at = 0; at < n; at += SIDE) {
    whole side = n - at < SIDE ? n - at : SIDE, from = upper ? 0 : at + side, rows = upper ? at : n - at - side;
    for (whole j = at; j < at + side; j++) {
      whole first = upper ? at : j, end = upper ? j + 1 : at + side;
      NAME(scale)(end - first, beta, c + first * rsc + j * csc, rsc);
      for (whole p = 0; p < k; p++)
        NAME(axpy)(end - first, alpha * b[j * rsb + p * csb], a + first * rsa + p * csa, rsa, c + first * rsc + j * csc,
                   rsc);
    }
    if (rows)
      NAME(product)(rows, k, side, alpha, a + from * rsa, rsa, csa, b + at * rsb, csb, rsb, beta,
                    c + from * rsc + at * csc, rsc, csc);
  }
}

// The Cholesky factor of the lower half; where that is not positive definite, the number of the first column that
// says so, from 1.
SHARED whole NAME(potrf)(whole n, REAL *a, whole rs, whole cs) {
  for (whole at = 0; at < n; at += SIDE) {
    whole side = n - at < SIDE ? n - at : SIDE, below = n - at - side;
    REAL *block = a + at * (rs + cs);
    for (whole j = 0; j < side; j++) {
      for (whole k = 0; k < j; k++)
        NAME(axpy)(side - j, -block[j * rs + k * cs], block + j * rs + k * cs, rs, block + j * (rs + cs), rs);
      REAL square = block[j * (rs + cs)];
      if (!(square > 0))
        return at + j + 1;
      REAL diagonal = ROOT(square);
      block[j * (rs + cs)] = diagonal;
      for (whole i = j + 1; i < side; i++)
        block[i * rs + j * cs] /= diagonal;
    }
    if (!below)
      break;
    REAL *panel = block + side * rs;
    NAME(trsm)(0, 0, side, below, block, rs, cs, panel, cs, rs);
    NAME(half_product)(0, below, side, -1, panel, rs, cs, panel, rs, cs, 1, block + side * (rs + cs), rs, cs);
  }
  return 0;
}

// L U with exchanged rows; `pivots` are their numbers from 1. The number of the first pivot that is zero, from 1.
SHARED whole NAME(getrf)(whole m, whole n, REAL *a, whole rs, whole cs, INT *pivots) {
  whole least = m < n ? m : n, info = 0;
  for (whole at = 0; at < least; at += SIDE) {
    whole side = least - at < SIDE ? least - at : SIDE, end = at + side;
    for (whole j = at; j < end; j++) {
      for (whole k = at; k < j; k++)
        NAME(axpy)(m - k - 1, -a[k * rs + j * cs], a + (k + 1) * rs + k * cs, rs, a + (k + 1) * rs + j * cs, rs);
      whole pivot = j + NAME(iamax)(m - j, a + j * (rs + cs), rs);
      pivots[j] = (INT)(pivot + 1);
      if (pivot != j)
        NAME(swap)(n, a + j * rs, cs, a + pivot * rs, cs);
      REAL diagonal = a[j * (rs + cs)];
      if (diagonal == 0) {
        info = info ? info : j + 1;
        continue;
      }
      for (whole i = j + 1; i < m; i++)
        a[i * rs + j * cs] /= diagonal;
    }
    if (end < n)
      NAME(trsm)(0, 1, side, n - end, a + at * (rs + cs), rs, cs, a + at * rs + end * cs, rs, cs);
    if (end < n && end < m)
      NAME(product)(m - end, side, n - end, -1, a + end * rs + at * cs, rs, cs, a + at * rs + end * cs, rs, cs, 1,
                    a + end * (rs + cs), rs, cs);
  }
  return info;
}

INLINE void NAME(laswp)(whole n, REAL *a, whole rs, whole cs, whole first, whole last, const INT *pivots,
                        _Bool backwards) {
  for (whole k = first; k < last; k++) {
    whole i = backwards ? first + last - 1 - k : k, pivot = pivots[i] - 1;
    if (pivot != i)
      NAME(swap)(n, a + i * rs, cs, a + pivot * rs, cs);
  }
}

SHARED void NAME(getrs)(_Bool transposed, whole n, whole sides, const REAL *a, whole rs, whole cs, const INT *pivots,
                        REAL *b, whole rsb, whole csb) {
  if (transposed) {
    NAME(trsm)(0, 0, n, sides, a, cs, rs, b, rsb, csb);
    NAME(trsm)(1, 1, n, sides, a, cs, rs, b, rsb, csb);
    NAME(laswp)(sides, b, rsb, csb, 0, n, pivots, 1);
  } else {
    NAME(laswp)(sides, b, rsb, csb, 0, n, pivots, 0);
    NAME(trsm)(0, 1, n, sides, a, rs, cs, b, rsb, csb);
    NAME(trsm)(1, 0, n, sides, a, rs, cs, b, rsb, csb);
  }
}

// The inverse, by what getrf made.
SHARED whole NAME(getri)(whole n, REAL *a, whole rs, whole cs, const INT *pivots) {
  for (whole j = 0; j < n; j++)
    if (a[j * (rs + cs)] == 0)
      return j + 1;
  REAL *factors = malloc(sizeof(REAL) * (size)(n * n + 1));
  for (whole j = 0; j < n; j++)
    for (whole i = 0; i < n; i++) {
      factors[i + j * n] = a[i * rs + j * cs];
      a[i * rs + j * cs] = i == j;
    }
  NAME(getrs)(0, n, n, factors, 1, n, pivots, a, rs, cs);
  free(factors);
  return 0;
}

SHARED void NAME(potrs)(whole n, whole sides, const REAL *a, whole rs, whole cs, REAL *b, whole rsb, whole csb) {
  NAME(trsm)(0, 0, n, sides, a, rs, cs, b, rsb, csb);
  NAME(trsm)(1, 0, n, sides, a, cs, rs, b, rsb, csb);
}

INLINE whole NAME(trtrs)(_Bool upper, _Bool unit, whole n, whole sides, const REAL *a, whole rs, whole cs, REAL *b,
                         whole rsb, whole csb) {
  for (whole j = 0; j < n && !unit; j++)
    if (a[j * (rs + cs)] == 0)
      return j + 1;
  NAME(trsm)(upper, unit, n, sides, a, rs, cs, b, rsb, csb);
  return 0;
}

// The three diagonals below, on and above the main one; `below` becomes the second one above.
SHARED whole NAME(gtsv)(whole n, whole sides, REAL *below, REAL *on, REAL *above, REAL *b, whole rsb, whole csb) {
  for (whole i = 0; i + 1 < n; i++) {
    REAL upper = on[i] < 0 ? -on[i] : on[i], lower = below[i] < 0 ? -below[i] : below[i];
    if (upper >= lower) {
      if (upper == 0)
        return i + 1;
      REAL factor = below[i] / on[i];
      on[i + 1] -= factor * above[i];
      below[i] = 0;
      for (whole j = 0; j < sides; j++)
        b[(i + 1) * rsb + j * csb] -= factor * b[i * rsb + j * csb];
    } else {
      REAL factor = on[i] / below[i], next = on[i + 1];
      on[i] = below[i];
      on[i + 1] = above[i] - factor * next;
      below[i] = 0;
      if (i + 2 < n) {
        below[i] = above[i + 1];
        above[i + 1] = -factor * below[i];
      }
      above[i] = next;
      for (whole j = 0; j < sides; j++) {
        REAL kept = b[i * rsb + j * csb];
        b[i * rsb + j * csb] = b[(i + 1) * rsb + j * csb];
        b[(i + 1) * rsb + j * csb] = kept - factor * b[i * rsb + j * csb];
      }
    }
  }
  if (n > 0 && on[n - 1] == 0)
    return n;
  for (whole j = 0; j < sides; j++)
    for (whole i = n - 1; i >= 0; i--) {
      REAL sum = b[i * rsb + j * csb];
      if (i + 1 < n)
        sum -= above[i] * b[(i + 1) * rsb + j * csb];
      if (i + 2 < n)
        sum -= below[i] * b[(i + 2) * rsb + j * csb];
      b[i * rsb + j * csb] = sum / on[i];
    }
  return 0;
}

// A reflection H = I - tau v v^T, v = (1, ...), that takes `n` numbers x to (beta, 0, ...), which is put in the place
// of the first, v in that of the others (dlarfg). What is zero already is reflected, too: the library's choice of H = I
// there would be a jump.
INLINE REAL NAME(reflection)(whole n, REAL *x, whole inc) {
  REAL first = x[0], squares = first * first;
  for (whole i = 1; i < n; i++)
    squares += x[i * inc] * x[i * inc];
  if (n < 2 || squares == 0)
    return 0;
  REAL beta = first > 0 ? -ROOT(squares) : ROOT(squares), scale = 1 / (first - beta);
  for (whole i = 1; i < n; i++)
    x[i * inc] *= scale;
  x[0] = beta;
  return (beta - first) / beta;
}

// C = H C for a reflection whose v begins at `v`, of as many numbers as C has rows.
INLINE void NAME(reflect)(whole m, whole n, const REAL *v, whole inc, REAL tau, REAL *c, whole rs, whole cs) {
  for (whole j = 0; j < n; j++) {
    REAL sum = c[j * cs];
    for (whole i = 1; i < m; i++)
      sum += v[i * inc] * c[i * rs + j * cs];
    sum *= tau;
    c[j * cs] -= sum;
    for (whole i = 1; i < m; i++)
      c[i * rs + j * cs] -= v[i * inc] * sum;
  }
}

SHARED void NAME(geqrf)(whole m, whole n, REAL *a, whole rs, whole cs, REAL *tau) {
  for (whole j = 0; j < (m < n ? m : n); j++) {
    REAL *column = a + j * (rs + cs), scale = NAME(reflection)(m - j, column, rs);
    tau[j] = scale;
    NAME(reflect)(m - j, n - j - 1, column, rs, scale, column + cs, rs, cs);
  }
}

// C = Q C, or Q^T C, for `k` reflections.
SHARED void NAME(ormqr)(_Bool transposed, whole m, whole n, whole k, const REAL *a, whole rs, whole cs, const REAL *tau,
                        REAL *c, whole rsc, whole csc) {
  for (whole l = 0; l < k; l++) {
    whole i = transposed ? l : k - 1 - l;
    NAME(reflect)(m - i, n, a + i * (rs + cs), rs, tau[i], c + i * rsc, rsc, csc);
  }
}

// The first `n` columns of Q in the place of its `k` reflections.
SHARED void NAME(orgqr)(whole m, whole n, whole k, REAL *a, whole rs, whole cs, const REAL *tau) {
  for (whole j = k; j < n; j++)
    for (whole i = 0; i < m; i++)
      a[i * rs + j * cs] = i == j;
  for (whole i = k - 1; i >= 0; i--) {
    REAL *column = a + i * (rs + cs);
    NAME(reflect)(m - i, n - i - 1, column, rs, tau[i], column + cs, rs, cs);
    for (whole l = i + 1; l < m; l++)
      a[l * rs + i * cs] *= -tau[i];
    a[i * (rs + cs)] = 1 - tau[i];
    for (whole l = 0; l < i; l++)
      a[l * rs + i * cs] = 0;
  }
}

// The least squares solution of A X = B for an A of m rows and n columns, m >= n; the smallest solution of A^T X = B if
// `smallest`. A has full rank, or else the number of a column is returned.
SHARED whole NAME(gels)(_Bool smallest, whole m, whole n, whole sides, REAL *a, whole rs, whole cs, REAL *b, whole rsb,
                        whole csb) {
  REAL *tau = malloc(sizeof(REAL) * (size)(n + 1));
  whole bad = 0;
  NAME(geqrf)(m, n, a, rs, cs, tau);
  for (whole j = 0; j < n && !bad; j++)
    bad = a[j * (rs + cs)] == 0 ? j + 1 : 0;
  if (!bad && smallest) {
    NAME(trsm)(0, 0, n, sides, a, cs, rs, b, rsb, csb);
    for (whole j = 0; j < sides; j++)
      for (whole i = n; i < m; i++)
        b[i * rsb + j * csb] = 0;
    NAME(ormqr)(0, m, sides, n, a, rs, cs, tau, b, rsb, csb);
  } else if (!bad) {
    NAME(ormqr)(1, m, sides, n, a, rs, cs, tau, b, rsb, csb);
    NAME(trsm)(1, 0, n, sides, a, rs, cs, b, rsb, csb);
  }
  free(tau);
  return bad;
}

// The inverse of an upper triangle.
SHARED whole NAME(trtri)(_Bool unit, whole n, REAL *a, whole rs, whole cs) {
  for (whole j = 0; j < n && !unit; j++)
    if (a[j * (rs + cs)] == 0)
      return j + 1;
  for (whole j = 0; j < n; j++) {
    REAL diagonal = unit ? 1 : 1 / a[j * (rs + cs)];
    if (!unit)
      a[j * (rs + cs)] = diagonal;
    NAME(trmv)(1, unit, j, a, rs, cs, a + j * cs, rs);
    for (whole i = 0; i < j; i++)
      a[i * rs + j * cs] *= -diagonal;
  }
  return 0;
}

// The lower half of the inverse, by the Cholesky factor in the lower half.
SHARED whole NAME(potri)(whole n, REAL *a, whole rs, whole cs) {
  whole bad = NAME(trtri)(0, n, a, cs, rs);
  for (whole i = 0; i < n && !bad; i++)
    for (whole j = 0; j <= i; j++)
      a[i * rs + j * cs] = NAME(dot)(n - i, a + i * (rs + cs), rs, a + i * rs + j * cs, rs);
  return bad;
}

// The largest sum of magnitudes of a column.
INLINE REAL NAME(one_norm)(whole m, whole n, const REAL *a, whole rs, whole cs) {
  REAL most = 0;
  for (whole j = 0; j < n; j++) {
    REAL sum = NAME(asum)(m, a + j * cs, rs);
    most = sum > most ? sum : most;
  }
  return most;
}

SHARED REAL NAME(lange)(const char *norm, whole m, whole n, const REAL *a, whole rs, whole cs) {
  REAL out = 0;
  if (is(norm, 'f') || is(norm, 'e')) {
    for (whole j = 0; j < n; j++)
      out += NAME(dot)(m, a + j * cs, rs, a + j * cs, rs);
    return out == 0 ? 0 : ROOT(out);
  }
  if (!is(norm, 'm'))
    return is(norm, 'i') ? NAME(one_norm)(n, m, a, cs, rs) : NAME(one_norm)(m, n, a, rs, cs);
  for (whole j = 0; j < n; j++)
    for (whole i = 0; i < m; i++) {
      REAL size = a[i * rs + j * cs] < 0 ? -a[i * rs + j * cs] : a[i * rs + j * cs];
      out = size > out ? size : out;
    }
  return out;
}
