// Condition numbers, and LAPACK's expert drivers for systems of equations, for one type, REAL. A condition number is
// the library's estimate, and has the derivative of that. The drivers solve by factors that they keep; they balance
// nothing, and what bounds the errors of solutions is said to be one rounding.
// Not handled: factors that are there before (the program ends there).

INLINE void NAME(must_factor)(const char *fact) {
  if (is(fact, 'f'))
    REFUSE("an expert driver that is given factors (job F)");
}

// What solves A x = x, in the place of x.
struct NAME(factors) {
  int kind;
  _Bool upper, unit;
  whole n, kl, ku;
  const REAL *a;
  whole rs, cs;
  const INT *pivots;
};

SHARED void NAME(apart_solve)(const struct NAME(factors) * by, _Bool transposed, REAL *x) {
  whole rs = transposed ? by->cs : by->rs, cs = transposed ? by->rs : by->cs;
  if (by->kind == BY_BAND) {
    NAME(gbtrs)(transposed, by->n, by->kl, by->ku, 1, by->a, by->rs, by->cs, by->pivots, x, 1, by->n);
  } else if (by->kind == BY_TRIANGLE) {
    NAME(trsm)(by->upper != transposed, by->unit, by->n, 1, by->a, rs, cs, x, 1, by->n);
  } else if (by->kind == BY_CHOLESKY) {
    NAME(potrs)(by->n, 1, by->a, by->rs, by->cs, x, 1, by->n);
  } else {
    NAME(trsm)(0, !transposed, by->n, 1, by->a, rs, cs, x, 1, by->n);
    NAME(trsm)(1, transposed, by->n, 1, by->a, rs, cs, x, 1, by->n);
  }
}

// The signs of x in its place; whether they are those that were kept.
INLINE _Bool NAME(signs)(whole n, REAL *x, REAL *kept) {
  _Bool same = 1;
  for (whole i = 0; i < n; i++) {
    REAL sign = x[i] >= 0 ? 1 : -1;
    same = same && sign == kept[i];
    x[i] = kept[i] = sign;
  }
  return same;
}

INLINE void NAME(unit_vector)(whole n, whole at, REAL *x) {
  for (whole i = 0; i < n; i++)
    x[i] = i == at;
}

// The norm of the inverse as the library estimates it (Higham, "FORTRAN codes for estimating the one-norm of a real or
// complex matrix", 1988; LAPACK's dlacn2), by the rows if `rows`: the size of what a few vectors become.
SHARED REAL NAME(apart_inverse_norm)(const struct NAME(factors) * by, _Bool rows) {
  whole n = by->n;
  REAL *x = malloc(sizeof(REAL) * (size)(n + 1)), *kept = malloc(sizeof(REAL) * (size)(n + 1));
  for (whole i = 0; i < n; i++)
    x[i] = (REAL)1 / (REAL)n, kept[i] = 0;
  NAME(apart_solve)(by, rows, x);
  REAL most = NAME(asum)(n, x, 1);
  if (n > 1) {
    NAME(signs)(n, x, kept);
    NAME(apart_solve)(by, !rows, x);
    whole at = NAME(iamax)(n, x, 1);
    for (int round = 2;; round++) {
      NAME(unit_vector)(n, at, x);
      NAME(apart_solve)(by, rows, x);
      REAL before = most;
      most = NAME(asum)(n, x, 1);
      if (NAME(signs)(n, x, kept) || most <= before)
        break;
      NAME(apart_solve)(by, !rows, x);
      whole last = at;
      at = NAME(iamax)(n, x, 1);
      if (x[last] == (x[at] < 0 ? -x[at] : x[at]) || round >= 5)
        break;
    }
    for (whole i = 0; i < n; i++)
      x[i] = (i % 2 ? -1 : 1) * (1 + (REAL)i / (REAL)(n - 1));
    NAME(apart_solve)(by, rows, x);
    REAL other = 2 * (NAME(asum)(n, x, 1) / (REAL)(3 * n));
    most = other > most ? other : most;
  }
  free(kept);
  free(x);
  return most;
}

// One over the condition number.
INLINE REAL NAME(reciprocal)(const char *norm, REAL size_of_it, const struct NAME(factors) * by) {
  if (by->n == 0)
    return 1;
  const REAL *diagonal = by->kind == BY_BAND ? by->a + (by->kl + by->ku) * by->rs : by->a;
  for (whole i = 0; i < by->n && !by->unit; i++)
    if (diagonal[i * (by->kind == BY_BAND ? by->cs : by->rs + by->cs)] == 0)
      return 0;
  REAL product = size_of_it * NAME(apart_inverse_norm)(by, is(norm, 'i'));
  return product > 0 ? 1 / product : 0;
}

SHARED REAL NAME(gecon)(const char *norm, whole n, const REAL *a, whole rs, whole cs, REAL size_of_it) {
  struct NAME(factors) by = {BY_LU, 0, 0, n, 0, 0, a, rs, cs, 0};
  return NAME(reciprocal)(norm, size_of_it, &by);
}

SHARED REAL NAME(pocon)(whole n, const REAL *a, whole rs, whole cs, REAL size_of_it) {
  struct NAME(factors) by = {BY_CHOLESKY, 0, 0, n, 0, 0, a, rs, cs, 0};
  return NAME(reciprocal)("1", size_of_it, &by);
}

SHARED REAL NAME(trcon)(const char *norm, _Bool upper, _Bool unit, whole n, const REAL *a, whole rs, whole cs) {
  struct NAME(factors) by = {BY_TRIANGLE, upper, unit, n, 0, 0, a, rs, cs, 0};
  REAL *full = malloc(sizeof(REAL) * (size)(n * n + 1));
  for (whole j = 0; j < n; j++)
    for (whole i = 0; i < n; i++)
      full[i + j * n] = i == j && unit ? 1 : i == j || (i < j) == upper ? a[i * rs + j * cs] : 0;
  REAL size_of_it = NAME(lange)(norm, n, n, full, 1, n);
  free(full);
  return NAME(reciprocal)(norm, size_of_it, &by);
}

SHARED REAL NAME(gbcon)(const char *norm, whole n, whole kl, whole ku, const REAL *a, whole rs, whole cs,
                        const INT *pivots, REAL size_of_it) {
  struct NAME(factors) by = {BY_BAND, 0, 0, n, kl, ku, a, rs, cs, pivots};
  return NAME(reciprocal)(norm, size_of_it, &by);
}

// The largest element of a matrix over that of its U, in which `reach` diagonals lie above the main one.
INLINE REAL NAME(growth)(whole n, whole reach, REAL largest, const REAL *u, whole down, whole right) {
  REAL most = 0;
  for (whole j = 0; j < n; j++)
    for (whole i = j > reach ? j - reach : 0; i <= j; i++) {
      REAL x = u[i * down + j * right], size = x < 0 ? -x : x;
      most = size > most ? size : most;
    }
  return most == 0 ? 1 : largest / most;
}

// What an expert driver says of its solutions.
INLINE whole NAME(rated)(whole n, whole sides, REAL rcond, REAL *ferr, REAL *berr) {
  REAL eps = sizeof(REAL) == sizeof(double) ? (REAL)1.2e-16 : (REAL)6e-8;
  for (whole j = 0; j < sides; j++)
    ferr[j] = berr[j] = eps;
  return rcond < eps ? n + 1 : 0;
}

SHARED whole NAME(gesvx)(const char *fact, const char *trans, whole n, whole sides, const REAL *a, whole lda, REAL *af,
                         whole ldaf, INT *pivots, char *equed, const REAL *b, whole ldb, REAL *x, whole ldx,
                         REAL *rcond, REAL *ferr, REAL *berr, REAL *pivot_growth) {
  NAME(must_factor)(fact);
  *equed = 'N';
  const char *norm = moved(trans) ? "I" : "1";
  for (whole j = 0; j < n; j++)
    NAME(copy)(n, a + j * lda, 1, af + j * ldaf, 1);
  for (whole j = 0; j < sides; j++)
    NAME(copy)(n, b + j * ldb, 1, x + j * ldx, 1);
  whole bad = NAME(getrf)(n, n, af, 1, ldaf, pivots);
  *pivot_growth = NAME(growth)(n, n, NAME(lange)("M", n, n, a, 1, lda), af, 1, ldaf);
  *rcond = 0;
  if (bad)
    return bad;
  NAME(getrs)(moved(trans), n, sides, af, 1, ldaf, pivots, x, 1, ldx);
  *rcond = NAME(gecon)(norm, n, af, 1, ldaf, NAME(lange)(norm, n, n, a, 1, lda));
  return NAME(rated)(n, sides, *rcond, ferr, berr);
}

SHARED whole NAME(gbsvx)(const char *fact, const char *trans, whole n, whole kl, whole ku, whole sides, const REAL *a,
                         whole lda, REAL *af, whole ldaf, INT *pivots, char *equed, const REAL *b, whole ldb, REAL *x,
                         whole ldx, REAL *rcond, REAL *ferr, REAL *berr, REAL *pivot_growth) {
  NAME(must_factor)(fact);
  *equed = 'N';
  const char *norm = moved(trans) ? "I" : "1";
  for (whole j = 0; j < n; j++)
    for (whole i = j > ku ? j - ku : 0; i < n && i <= j + kl; i++)
      af[kl + ku + i - j + j * ldaf] = a[ku + i - j + j * lda];
  for (whole j = 0; j < sides; j++)
    NAME(copy)(n, b + j * ldb, 1, x + j * ldx, 1);
  whole bad = NAME(gbtrf)(n, n, kl, ku, af, 1, ldaf, pivots);
  *pivot_growth = NAME(growth)(n, kl + ku, NAME(langb)("M", n, kl, ku, a, 1, lda), af + kl + ku, 1, ldaf - 1);
  *rcond = 0;
  if (bad)
    return bad;
  NAME(gbtrs)(moved(trans), n, kl, ku, sides, af, 1, ldaf, pivots, x, 1, ldx);
  *rcond = NAME(gbcon)(norm, n, kl, ku, af, 1, ldaf, pivots, NAME(langb)(norm, n, kl, ku, a, 1, lda));
  return NAME(rated)(n, sides, *rcond, ferr, berr);
}

SHARED whole NAME(posvx)(const char *fact, _Bool upper, whole n, whole sides, const REAL *a, whole lda, REAL *af,
                         whole ldaf, char *equed, const REAL *b, whole ldb, REAL *x, whole ldx, REAL *rcond, REAL *ferr,
                         REAL *berr) {
  NAME(must_factor)(fact);
  *equed = 'N';
  for (whole j = 0; j < n; j++)
    for (whole i = upper ? 0 : j; i < (upper ? j + 1 : n); i++)
      af[i + j * ldaf] = a[i + j * lda];
  for (whole j = 0; j < sides; j++)
    NAME(copy)(n, b + j * ldb, 1, x + j * ldx, 1);
  whole rs = upper ? ldaf : 1, cs = upper ? 1 : ldaf, bad = NAME(potrf)(n, af, rs, cs);
  *rcond = 0;
  if (bad)
    return bad;
  NAME(potrs)(n, sides, af, rs, cs, x, 1, ldx);
  *rcond = NAME(pocon)(n, af, rs, cs, NAME(lansy)("1", upper, n, a, 1, lda));
  return NAME(rated)(n, sides, *rcond, ferr, berr);
}
