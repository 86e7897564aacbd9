// Eigenvalues and vectors of symmetric matrices, and least squares by singular values, for one type, REAL.
//
// The library finds them, without derivative; then they are made better by steps that converge quadratically, so that
// what the steps compute has derivatives (Christianson, "Reverse accumulation and attractive fixed points", 1994, says
// so of fixed points): one step gives those of the first order, two give those up to the third. Those of the fourth are
// made so large that it is seen. A step, for vectors X (Ogita, Aishima, "Iterative refinement for symmetric eigenvalue
// decomposition", 2018):
//
//   T = X^T A X,  G = X^T X,  l_i = T_ii / G_ii,  X += X E,
//   E_ij = (T_ij + l_j R_ij) / (l_j - l_i) with R = I - G, and R_ij / 2 where l_i and l_j cannot be told apart
//
// All of it but the last line are products, which have rules. The signs of vectors are the library's: it is asked as
// the program asks it.
//
// Invariants: where two eigenvalues cannot be told apart, their sum has its derivative, and each has one of those that
// its vectors, as they are, give. Second derivatives and vectors have none there: whoever wants one gets a number so
// large that it is seen.
// The same holds for singular values, which have no derivative: a least squares solution has that of a matrix of full
// rank, and the program ends where that is not so.
// Not handled: derivatives of orders above the third; a part of a spectrum; complex matrices.

#define RUNTIME_NAME(name) GLUE(GLUE(GLUE(runtime_, LETTER), name), END)
#define SYMBOL_OF(name) #name
#define SYMBOL(name) SYMBOL_OF(name)
void RUNTIME_NAME(syev)(const char *, const char *, const INT *, REAL *, const INT *, REAL *, REAL *, const INT *,
                        INT *, size, size) __asm__("enzyme.runtime." SYMBOL(GLUE(GLUE(LETTER, syev), END)));
void RUNTIME_NAME(syevd)(const char *, const char *, const INT *, REAL *, const INT *, REAL *, REAL *, const INT *,
                         INT *, const INT *, INT *, size,
                         size) __asm__("enzyme.runtime." SYMBOL(GLUE(GLUE(LETTER, syevd), END)));
INT RUNTIME_NAME(syev_in_c)(INT, char, char, INT, REAL *, INT,
                            REAL *) __asm__("enzyme.runtime.LAPACKE_" SYMBOL(GLUE(GLUE(LETTER, syev), CEND)));
INT RUNTIME_NAME(syevd_in_c)(INT, char, char, INT, REAL *, INT,
                             REAL *) __asm__("enzyme.runtime.LAPACKE_" SYMBOL(GLUE(GLUE(LETTER, syevd), CEND)));
void RUNTIME_NAME(syevr)(const char *, const char *, const char *, const INT *, REAL *, const INT *, const REAL *,
                         const REAL *, const INT *, const INT *, const REAL *, INT *, REAL *, REAL *, const INT *,
                         INT *, REAL *, const INT *, INT *, const INT *, INT *, size, size,
                         size) __asm__("enzyme.runtime." SYMBOL(GLUE(GLUE(LETTER, syevr), END)));
void RUNTIME_NAME(gelsd)(const INT *, const INT *, const INT *, REAL *, const INT *, REAL *, const INT *, REAL *,
                         const REAL *, INT *, REAL *, const INT *, INT *,
                         INT *) __asm__("enzyme.runtime." SYMBOL(GLUE(GLUE(LETTER, gelsd), END)));

// What the library finds: vectors in the place of a full matrix of n columns, and eigenvalues.
GIVEN whole NAME(given_vectors)(_Bool divides, _Bool upper, whole order, REAL *x, REAL *w) {
  INT n = (INT)order, room = -1, rooms = -1, info = 0, whole_room = 0;
  const char *half = upper ? "U" : "L";
  REAL most = 0;
  if (divides)
    RUNTIME_NAME(syevd)("V", half, &n, x, &n, w, &most, &room, &whole_room, &rooms, &info, 1, 1);
  else
    RUNTIME_NAME(syev)("V", half, &n, x, &n, w, &most, &room, &info, 1, 1);
  room = (INT)most + 1, rooms = whole_room + 1;
  REAL *work = malloc(sizeof(REAL) * (size)room);
  INT *wholes = malloc(sizeof(INT) * (size)rooms);
  if (divides)
    RUNTIME_NAME(syevd)("V", half, &n, x, &n, w, work, &room, wholes, &rooms, &info, 1, 1);
  else
    RUNTIME_NAME(syev)("V", half, &n, x, &n, w, work, &room, &info, 1, 1);
  free(wholes);
  free(work);
  return info;
}

// The same by the driver that may also give a part of the spectrum.
GIVEN whole NAME(given_representations)(_Bool upper, whole order, REAL *x, REAL *w) {
  INT n = (INT)order, room = -1, rooms = -1, info = 0, asked = 0, none = 0, count = 0;
  const char *half = upper ? "U" : "L";
  REAL most = 0, zero = 0, *a = malloc(sizeof(REAL) * (size)(order * order));
  INT *support = malloc(sizeof(INT) * (size)(2 * order));
  for (whole i = 0; i < order * order; i++)
    a[i] = x[i];
  RUNTIME_NAME(syevr)("V", "A", half, &n, a, &n, &zero, &zero, &none, &none, &zero, &count, w, x, &n, support, &most,
                      &room, &asked, &rooms, &info, 1, 1, 1);
  room = (INT)most + 1, rooms = asked + 1;
  REAL *work = malloc(sizeof(REAL) * (size)room);
  INT *wholes = malloc(sizeof(INT) * (size)rooms);
  RUNTIME_NAME(syevr)("V", "A", half, &n, a, &n, &zero, &zero, &none, &none, &zero, &count, w, x, &n, support, work,
                      &room, wholes, &rooms, &info, 1, 1, 1);
  free(wholes);
  free(work);
  free(support);
  free(a);
  return info;
}

// The same by LAPACKE, with which a program need not be linked to more.
GIVEN whole NAME(given_vectors_in_c)(_Bool divides, _Bool upper, whole order, REAL *x, REAL *w) {
  INT n = (INT)order;
  char half = upper ? 'U' : 'L';
  return divides ? RUNTIME_NAME(syevd_in_c)(COLUMNS, 'V', half, n, x, n, w)
                 : RUNTIME_NAME(syev_in_c)(COLUMNS, 'V', half, n, x, n, w);
}

// The same number, without derivative.
__attribute__((optnone)) GIVEN REAL NAME(given_number)(REAL x) {
  volatile REAL kept = x;
  return kept;
}

// Zero, with derivatives by what `x` depends on that are zero below the order 1, 2 or 4, and of it so large that it is
// seen.
INLINE REAL NAME(seen)(REAL x, int order) {
  REAL change = x - NAME(given_number)(x), square = change * change;
  return (order == 1   ? change
          : order == 2 ? square
                       : square * square) *
         (sizeof(REAL) == sizeof(double) ? (REAL)1e300 : (REAL)1e36);
}

// How much an element counts in a sum over a matrix that is to change with any of them.
INLINE REAL NAME(weight)(whole i, whole j) { return (REAL)(1 + (7 * i + 3 * j) % 11) / (REAL)7; }

// Eigenvalues by vectors x, and better vectors if `next` is given: by the last step, if `ends`.
SHARED void NAME(better)(whole n, const REAL *s, const REAL *x, REAL *w, REAL *next, _Bool ends) {
  size room = sizeof(REAL) * (size)(n * n + 1);
  REAL *y = malloc(room), *t = malloc(room), *g = malloc(room), *e = malloc(room);
  REAL *curved = malloc(sizeof(REAL) * (size)(n + 1));
  NAME(product)(n, n, n, 1, s, 1, n, x, 1, n, 0, y, 1, n);
  NAME(product)(n, n, n, 1, x, n, 1, y, 1, n, 0, t, 1, n);
  NAME(product)(n, n, n, 1, x, n, 1, x, 1, n, 0, g, 1, n);
  REAL most = 0;
  for (whole i = 0; i < n; i++) {
    w[i] = t[i + i * n] / g[i + i * n];
    curved[i] = 0;
    most = w[i] > most ? w[i] : -w[i] > most ? -w[i] : most;
  }
  REAL least = most * (REAL)(8 * n) * (sizeof(REAL) == sizeof(double) ? (REAL)2.2e-16 : (REAL)1.2e-7);
  for (whole j = 0; (next || ends) && j < n; j++)
    for (whole i = 0; i < n; i++) {
      REAL r = (i == j) - g[i + j * n], gap = w[j] - w[i], change = t[i + j * n] + w[j] * r;
      if (i != j && (gap > least || -gap > least))
        e[i + j * n] = change / gap;
      else if (i != j && ends) {
        e[i + j * n] = r / 2 + NAME(seen)(change, 1);
        curved[i] += NAME(seen)(change, 2);
      } else
        e[i + j * n] = r / 2;
    }
  NAME(axpy)(n, 1, curved, 1, w, 1);
  if (next) {
    NAME(copy)(n * n, x, 1, next, 1);
    NAME(product)(n, n, n, 1, x, 1, n, e, 1, n, 1, next, 1, n);
  }
  free(curved);
  free(e);
  free(g);
  free(t);
  free(y);
}

// Eigenvalues, from the least, of the symmetric matrix of which one half is stored; its vectors as columns in its place
// if they are asked for. What the library says.
INLINE whole NAME(syev)(_Bool in_c, int driver, _Bool vectors, _Bool upper, whole n, REAL *a, whole rs, whole cs,
                        REAL *w) {
  if (n == 0)
    return 0;
  size room = sizeof(REAL) * (size)(n * n);
  REAL *s = malloc(room), *x = malloc(room), *first = malloc(room), *second = vectors ? malloc(room) : 0, sum = 0;
  for (whole j = 0; j < n; j++)
    for (whole i = 0; i < n; i++) {
      REAL value = NAME(half)(upper, a, rs, cs, i, j);
      s[i + j * n] = value;
      sum += value * NAME(weight)(i, j);
      x[i + j * n] = NAME(given_number)(value);
    }
  whole info = in_c                   ? NAME(given_vectors_in_c)(driver == DIVIDES, upper, n, x, w)
               : driver == REPRESENTS ? NAME(given_representations)(upper, n, x, w)
                                      : NAME(given_vectors)(driver == DIVIDES, upper, n, x, w);
  if (info == 0) {
    NAME(better)(n, s, x, w, first, 0);
    NAME(better)(n, s, first, w, second, 1);
    REAL beyond = NAME(seen)(sum, 4);
    for (whole j = 0; j < n; j++) {
      w[j] += beyond;
      for (whole i = 0; vectors && i < n; i++)
        a[i * rs + j * cs] = second[i + j * n] + beyond;
    }
  }
  if (vectors)
    free(second);
  free(first);
  free(x);
  free(s);
  return info;
}

// The same of A x = l B x for a B that is positive definite, of which the Cholesky factor comes to lie in its place.
INLINE whole NAME(sygv)(_Bool in_c, int driver, _Bool vectors, _Bool upper, whole n, REAL *a, whole rs, whole cs,
                        REAL *b, whole rsb, whole csb, REAL *w) {
  whole down = upper ? csb : rsb, right = upper ? rsb : csb, bad = NAME(potrf)(n, b, down, right);
  if (bad)
    return n + bad;
  REAL *c = malloc(sizeof(REAL) * (size)(n * n + 1));
  for (whole j = 0; j < n; j++)
    for (whole i = 0; i < n; i++)
      c[i + j * n] = NAME(half)(upper, a, rs, cs, i, j);
  NAME(trsm)(0, 0, n, n, b, down, right, c, 1, n);
  NAME(trsm)(0, 0, n, n, b, down, right, c, n, 1);
  whole info = NAME(syev)(in_c, driver, vectors, upper, n, c, 1, n, w);
  if (vectors && info == 0) {
    NAME(trsm)(1, 0, n, n, b, right, down, c, 1, n);
    for (whole j = 0; j < n; j++)
      for (whole i = 0; i < n; i++)
        a[i * rs + j * cs] = c[i + j * n];
  }
  free(c);
  return info;
}

// Ends the program where other eigenproblems than the first are asked for, or a part of a spectrum.
INLINE void NAME(must_be)(_Bool all) {
  if (!all)
    REFUSE("a part of a spectrum, or for an eigenproblem other than A x = l B x");
}

// The singular values that the library finds, and how many of them count.
GIVEN whole NAME(given_rank)(whole rows, whole columns, REAL *a, REAL *values, REAL least, INT *info) {
  INT m = (INT)rows, n = (INT)columns, most = m > n ? m : n, none = 1, rank = 0, room = -1, rooms = 1;
  REAL wanted = 0, *b = malloc(sizeof(REAL) * (size)(most + 1)), *work;
  INT *wholes;
  for (whole i = 0; i < most; i++)
    b[i] = 0;
  RUNTIME_NAME(gelsd)(&m, &n, &none, a, &m, b, &most, values, &least, &rank, &wanted, &room, &rooms, info);
  room = (INT)wanted + 1;
  work = malloc(sizeof(REAL) * (size)room);
  wholes = malloc(sizeof(INT) * (size)(rooms + 1));
  RUNTIME_NAME(gelsd)(&m, &n, &none, a, &m, b, &most, values, &least, &rank, work, &room, wholes, info);
  free(wholes);
  free(work);
  free(b);
  return rank;
}

// The least squares solution, the smallest where there are several; `values` gets the singular values.
SHARED whole NAME(gelsd)(whole m, whole n, whole sides, REAL *a, whole rs, whole cs, REAL *b, whole rsb, whole csb,
                         REAL *values, REAL least, INT *rank) {
  whole fewer = m < n ? m : n;
  *rank = 0;
  if (fewer == 0)
    return 0;
  REAL *x = malloc(sizeof(REAL) * (size)(m * n + 1)), *found = malloc(sizeof(REAL) * (size)(fewer + 1)), sum = 0;
  INT info = 0;
  for (whole j = 0; j < n; j++)
    for (whole i = 0; i < m; i++) {
      sum += a[i * rs + j * cs] * NAME(weight)(i, j);
      x[i + j * m] = NAME(given_number)(a[i * rs + j * cs]);
    }
  whole count = NAME(given_rank)(m, n, x, found, least, &info);
  *rank = (INT)count;
  if (info == 0 && count < fewer)
    REFUSE("least squares by a matrix without full rank (gelsd)");
  for (whole i = 0; i < fewer; i++)
    values[i] = found[i] + NAME(seen)(sum, 1);
  if (info == 0)
    NAME(gels)(m < n, m < n ? n : m, fewer, sides, a, m < n ? cs : rs, m < n ? rs : cs, b, rsb, csb);
  free(found);
  free(x);
  return info;
}

#undef RUNTIME_NAME
#undef SYMBOL
#undef SYMBOL_OF
