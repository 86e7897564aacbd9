// Matrices in bands, for one type, REAL: factors, and what is solved by them.
//
// Element (i, j) of a matrix in a band lies as far from (0, 0) as in a full one whose columns are an element less
// apart: so a band is a matrix with two strides, of which some elements are there.

// The Cholesky factor of a band of `side` diagonals on one side of the main one; as potrf.
SHARED whole NAME(pbtrf)(_Bool upper, whole n, whole side, REAL *a, whole rs, whole cs) {
  REAL *l = upper ? a + side * rs : a;
  whole down = upper ? cs - rs : rs, right = upper ? rs : cs - rs;
  for (whole j = 0; j < n; j++) {
    whole end = j + side + 1 < n ? j + side + 1 : n;
    REAL square = l[j * (down + right)];
    if (!(square > 0))
      return j + 1;
    REAL diagonal = ROOT(square);
    l[j * (down + right)] = diagonal;
    for (whole i = j + 1; i < end; i++)
      l[i * down + j * right] /= diagonal;
    for (whole k = j + 1; k < end; k++)
      for (whole i = k; i < end; i++)
        l[i * down + k * right] -= l[i * down + j * right] * l[k * down + j * right];
  }
  return 0;
}

SHARED void NAME(pbtrs)(_Bool upper, whole n, whole side, whole sides, const REAL *a, whole rs, whole cs, REAL *b,
                        whole rsb, whole csb) {
  const REAL *l = upper ? a + side * rs : a;
  whole down = upper ? cs - rs : rs, right = upper ? rs : cs - rs;
  for (whole k = 0; k < sides; k++) {
    REAL *x = b + k * csb;
    for (whole i = 0; i < n; i++) {
      REAL sum = x[i * rsb];
      for (whole j = i > side ? i - side : 0; j < i; j++)
        sum -= l[i * down + j * right] * x[j * rsb];
      x[i * rsb] = sum / l[i * (down + right)];
    }
    for (whole i = n - 1; i >= 0; i--) {
      REAL sum = x[i * rsb];
      for (whole j = i + 1; j < n && j <= i + side; j++)
        sum -= l[j * down + i * right] * x[j * rsb];
      x[i * rsb] = sum / l[i * (down + right)];
    }
  }
}

// L U of a band of `kl` diagonals below and `ku` above the main one, with exchanged rows: U has `kl` diagonals more.
// What L consists of stays where it was found. As getrf.
SHARED whole NAME(gbtrf)(whole m, whole n, whole kl, whole ku, REAL *a, whole rs, whole cs, INT *pivots) {
  REAL *u = a + (kl + ku) * rs;
  whole down = rs, right = cs - rs, last = 0, info = 0;
  for (whole j = ku + 1; j < n; j++)
    for (whole i = j > ku + kl ? j - ku - kl : 0; i < j - ku && i < m; i++)
      u[i * down + j * right] = 0;
  for (whole j = 0; j < (m < n ? m : n); j++) {
    whole end = j + kl + 1 < m ? j + kl + 1 : m, pivot = j + NAME(iamax)(end - j, u + j * (down + right), down);
    pivots[j] = (INT)(pivot + 1);
    if (u[pivot * down + j * right] == 0) {
      info = info ? info : j + 1;
      continue;
    }
    whole reach = pivot + ku < n - 1 ? pivot + ku : n - 1;
    last = reach > last ? reach : last;
    if (pivot != j)
      NAME(swap)(last - j + 1, u + j * (down + right), right, u + pivot * down + j * right, right);
    REAL diagonal = u[j * (down + right)];
    for (whole i = j + 1; i < end; i++)
      u[i * down + j * right] /= diagonal;
    for (whole k = j + 1; k <= last; k++)
      for (whole i = j + 1; i < end; i++)
        u[i * down + k * right] -= u[i * down + j * right] * u[j * down + k * right];
  }
  return info;
}

SHARED void NAME(gbtrs)(_Bool transposed, whole n, whole kl, whole ku, whole sides, const REAL *a, whole rs, whole cs,
                        const INT *pivots, REAL *b, whole rsb, whole csb) {
  const REAL *u = a + (kl + ku) * rs;
  whole down = rs, right = cs - rs;
  for (whole s = 0; s < sides; s++) {
    REAL *x = b + s * csb;
    for (whole j = 0; !transposed && j < n; j++) {
      if (pivots[j] - 1 != j)
        NAME(swap)(1, x + j * rsb, 1, x + (pivots[j] - 1) * rsb, 1);
      for (whole i = j + 1; i < n && i <= j + kl; i++)
        x[i * rsb] -= u[i * down + j * right] * x[j * rsb];
    }
    for (whole k = 0; k < n; k++) {
      whole i = transposed ? k : n - 1 - k, reach = kl + ku;
      REAL sum = x[i * rsb];
      if (transposed)
        for (whole j = i > reach ? i - reach : 0; j < i; j++)
          sum -= u[j * down + i * right] * x[j * rsb];
      else
        for (whole j = i + 1; j < n && j <= i + reach; j++)
          sum -= u[i * down + j * right] * x[j * rsb];
      x[i * rsb] = sum / u[i * (down + right)];
    }
    for (whole j = n - 1; transposed && j >= 0; j--) {
      REAL sum = x[j * rsb];
      for (whole i = j + 1; i < n && i <= j + kl; i++)
        sum -= u[i * down + j * right] * x[i * rsb];
      x[j * rsb] = sum;
      if (pivots[j] - 1 != j)
        NAME(swap)(1, x + j * rsb, 1, x + (pivots[j] - 1) * rsb, 1);
    }
  }
}

// What an element adds to that of its row or column, which is part of a norm; what these are together, and the norm.
INLINE REAL NAME(with)(const char *norm, REAL sum, REAL x) {
  REAL size = x < 0 ? -x : x;
  if (is(norm, 'f') || is(norm, 'e'))
    return sum + x * x;
  return is(norm, 'm') ? (size > sum ? size : sum) : sum + size;
}
INLINE REAL NAME(together)(const char *norm, REAL out, REAL sum) {
  return is(norm, 'f') || is(norm, 'e') ? out + sum : sum > out ? sum : out;
}
INLINE REAL NAME(normed)(const char *norm, REAL out) {
  return (is(norm, 'f') || is(norm, 'e')) && out != 0 ? ROOT(out) : out;
}

// The norm of a band: as lange.
SHARED REAL NAME(langb)(const char *norm, whole n, whole kl, whole ku, const REAL *a, whole rs, whole cs) {
  _Bool rows = is(norm, 'i');
  whole before = rows ? kl : ku, behind = rows ? ku : kl, down = rows ? cs - rs : rs, right = rows ? rs : cs - rs;
  const REAL *u = a + ku * rs;
  REAL out = 0;
  for (whole k = 0; k < n; k++) {
    REAL sum = 0;
    for (whole l = k > before ? k - before : 0; l < n && l <= k + behind; l++)
      sum = NAME(with)(norm, sum, u[l * down + k * right]);
    out = NAME(together)(norm, out, sum);
  }
  return NAME(normed)(norm, out);
}

// The norm of a symmetric matrix of which one half is stored.
SHARED REAL NAME(lansy)(const char *norm, _Bool upper, whole n, const REAL *a, whole rs, whole cs) {
  REAL out = 0;
  for (whole j = 0; j < n; j++) {
    REAL sum = 0;
    for (whole i = 0; i < n; i++)
      sum = NAME(with)(norm, sum, NAME(half)(upper, a, rs, cs, i, j));
    out = NAME(together)(norm, out, sum);
  }
  return NAME(normed)(norm, out);
}
