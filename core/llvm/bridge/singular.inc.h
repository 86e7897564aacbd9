// Singular values and vectors, for one type, REAL, as eigenvalues and vectors in spectra.inc.h: the library finds them,
// and two steps that converge quadratically (Ogita, Aishima, "Iterative refinement for singular value decomposition
// based on matrix multiplication", 2020) give them derivatives. For k vectors U and V of a matrix with at least as many
// rows as columns, T = U^T A V, R = I - U^T U, S = I - V^T V:
//
//   s_i = T_ii / (1 - (R_ii + S_ii) / 2),  U += U F + (A V - U (T + R T)) / s,  V += V G,
//   F_ij = (a s_j + b s_i) / (s_j^2 - s_i^2),  G_ij = (a s_i + b s_j) / (s_j^2 - s_i^2),
//   a = T_ij + s_j R_ij,  b = T_ji + s_j S_ij
//
// Invariants: as there. Vectors of values that cannot be told apart, or from zero, have no derivative, nor have those
// that a matrix has beyond the smaller number of its rows and columns.
// Not handled: vectors in the place of the matrix (the program ends there); what spectra.inc.h does not.

#define SYMBOL_OF(name) #name
#define SYMBOL(name) SYMBOL_OF(name)
#define RUNTIME_NAME(name) GLUE(GLUE(GLUE(runtime_, LETTER), name), END)
void RUNTIME_NAME(gesvd)(const char *, const char *, const INT *, const INT *, REAL *, const INT *, REAL *, REAL *,
                         const INT *, REAL *, const INT *, REAL *, const INT *, INT *, size,
                         size) __asm__("enzyme.runtime." SYMBOL(GLUE(GLUE(LETTER, gesvd), END)));
void RUNTIME_NAME(gesdd)(const char *, const INT *, const INT *, REAL *, const INT *, REAL *, REAL *, const INT *,
                         REAL *, const INT *, REAL *, const INT *, INT *, INT *,
                         size) __asm__("enzyme.runtime." SYMBOL(GLUE(GLUE(LETTER, gesdd), END)));

INT RUNTIME_NAME(gesvd_in_c)(INT, char, char, INT, INT, REAL *, INT, REAL *, REAL *, INT, REAL *, INT,
                             REAL *) __asm__("enzyme.runtime.LAPACKE_" SYMBOL(GLUE(GLUE(LETTER, gesvd), CEND)));
INT RUNTIME_NAME(gesdd_in_c)(INT, char, INT, INT, REAL *, INT, REAL *, REAL *, INT, REAL *,
                             INT) __asm__("enzyme.runtime.LAPACKE_" SYMBOL(GLUE(GLUE(LETTER, gesdd), CEND)));

// What the library finds of a full matrix, which goes: values, and vectors as rows of `vt` and columns of `u`. Of these
// none (0), as many as there are values (1), or all (2) are asked for.
INLINE whole NAME(find_singular)(_Bool divides, int left, int right, whole rows, whole columns, REAL *a, REAL *values,
                                 REAL *u, REAL *vt) {
  INT m = (INT)rows, n = (INT)columns, fewer = m < n ? m : n, info = 0, room = -1, down = right == 2 ? n : fewer;
  const char *jobs = "NSA";
  REAL wanted = 0, *work;
  INT *wholes = malloc(sizeof(INT) * (size)(8 * fewer + 1));
  down = down > 0 ? down : 1;
  if (divides)
    RUNTIME_NAME(gesdd)(jobs + left, &m, &n, a, &m, values, u, &m, vt, &down, &wanted, &room, wholes, &info, 1);
  else
    RUNTIME_NAME(gesvd)(jobs + left, jobs + right, &m, &n, a, &m, values, u, &m, vt, &down, &wanted, &room, &info, 1,
                        1);
  room = (INT)wanted + 1;
  work = malloc(sizeof(REAL) * (size)room);
  if (divides)
    RUNTIME_NAME(gesdd)(jobs + left, &m, &n, a, &m, values, u, &m, vt, &down, work, &room, wholes, &info, 1);
  else
    RUNTIME_NAME(gesvd)(jobs + left, jobs + right, &m, &n, a, &m, values, u, &m, vt, &down, work, &room, &info, 1, 1);
  free(work);
  free(wholes);
  return info;
}

// The same by LAPACKE.
INLINE whole NAME(find_singular_in_c)(_Bool divides, int left, int right, whole rows, whole columns, REAL *a,
                                      REAL *values, REAL *u, REAL *vt) {
  INT m = (INT)rows, n = (INT)columns, fewer = m < n ? m : n, down = right == 2 ? n : fewer, info;
  const char *jobs = "NSA";
  REAL *rest = malloc(sizeof(REAL) * (size)fewer);
  info = divides ? RUNTIME_NAME(gesdd_in_c)(COLUMNS, jobs[left], m, n, a, m, values, u, m, vt, down)
                 : RUNTIME_NAME(gesvd_in_c)(COLUMNS, jobs[left], jobs[right], m, n, a, m, values, u, m, vt, down, rest);
  free(rest);
  return info;
}

// Vectors of both sides, with the signs that they have where the program asks for those of one side.
INLINE whole NAME(find_both)(_Bool in_c, _Bool divides, int left, int right, whole m, whole n, REAL *a, REAL *values,
                             REAL *u, REAL *vt) {
  whole fewer = m < n ? m : n, down = right == 2 ? n : fewer, one = (left == 0) != (right == 0);
  REAL *kept = malloc(sizeof(REAL) * (size)(one ? m * n : 1));
  REAL *u_asked = malloc(sizeof(REAL) * (size)(one && left ? m * (left == 2 ? m : fewer) : 1));
  REAL *vt_asked = malloc(sizeof(REAL) * (size)(one && right ? down * n : 1));
  for (whole i = 0; one && i < m * n; i++)
    kept[i] = a[i];
  whole info = in_c ? NAME(find_singular_in_c)(divides, left ? left : 1, right ? right : 1, m, n, a, values, u, vt)
                    : NAME(find_singular)(divides, left ? left : 1, right ? right : 1, m, n, a, values, u, vt);
  if (info == 0 && one)
    info = in_c ? NAME(find_singular_in_c)(divides, left, right, m, n, kept, values, u_asked, vt_asked)
                : NAME(find_singular)(divides, left, right, m, n, kept, values, u_asked, vt_asked);
  for (whole j = 0; info == 0 && one && j < fewer; j++) {
    REAL along = 0;
    for (whole i = 0; i < (left ? m : n); i++)
      along += left ? u[i + j * m] * u_asked[i + j * m] : vt[j + i * down] * vt_asked[j + i * down];
    for (whole i = 0; along < 0 && i < m; i++)
      u[i + j * m] = -u[i + j * m];
    for (whole i = 0; along < 0 && i < n; i++)
      vt[j + i * down] = -vt[j + i * down];
  }
  free(vt_asked);
  free(u_asked);
  free(kept);
  return info;
}

GIVEN whole NAME(given_singular)(_Bool divides, int left, int right, whole m, whole n, REAL *a, REAL *values, REAL *u,
                                 REAL *vt) {
  return NAME(find_both)(0, divides, left, right, m, n, a, values, u, vt);
}
GIVEN whole NAME(given_singular_in_c)(_Bool divides, int left, int right, whole m, whole n, REAL *a, REAL *values,
                                      REAL *u, REAL *vt) {
  return NAME(find_both)(1, divides, left, right, m, n, a, values, u, vt);
}

// Singular values by k vectors u of m numbers and v of k, and better vectors if they are given.
SHARED void NAME(better_singular)(whole m, whole k, const REAL *a, whole rs, whole cs, const REAL *u, const REAL *v,
                                  REAL *s, REAL *next_u, REAL *next_v, _Bool ends) {
  size room = sizeof(REAL) * (size)(k * k + 1), tall = sizeof(REAL) * (size)(m * k + 1);
  REAL *w = malloc(tall), *t = malloc(room), *r = malloc(room), *q = malloc(room), *f = malloc(room), *g = malloc(room),
       *h = malloc(room), *curved = malloc(sizeof(REAL) * (size)(k + 1));
  NAME(product)(m, k, k, 1, a, rs, cs, v, 1, k, 0, w, 1, m);
  NAME(product)(k, m, k, 1, u, m, 1, w, 1, m, 0, t, 1, k);
  NAME(product)(k, m, k, 1, u, m, 1, u, 1, m, 0, r, 1, k);
  NAME(product)(k, k, k, 1, v, k, 1, v, 1, k, 0, q, 1, k);
  REAL most = 0;
  for (whole i = 0; i < k; i++) {
    s[i] = t[i + i * k] / ((r[i + i * k] + q[i + i * k]) / 2);
    most = s[i] > most ? s[i] : most;
    curved[i] = 0;
  }
  REAL least = most * (REAL)(8 * m) * (sizeof(REAL) == sizeof(double) ? (REAL)2.2e-16 : (REAL)1.2e-7);
  for (whole j = 0; (next_u || ends) && j < k; j++)
    for (whole i = 0; i < k; i++) {
      REAL rij = (i == j) - r[i + j * k], qij = (i == j) - q[i + j * k], gap = s[j] - s[i];
      REAL x = t[i + j * k] + s[j] * rij, y = t[j + i * k] + s[j] * qij, of_u = rij / 2, of_v = qij / 2;
      if (i != j && (gap > least || -gap > least)) {
        REAL squares = gap * (s[j] + s[i]);
        of_u = (x * s[j] + y * s[i]) / squares;
        of_v = (x * s[i] + y * s[j]) / squares;
      } else if (i != j && ends) {
        of_u += NAME(seen)(x, 1);
        of_v += NAME(seen)(y, 1);
        curved[i] += NAME(seen)(x, 2) + NAME(seen)(y, 2);
      }
      f[i + j * k] = of_u;
      g[i + j * k] = of_v;
    }
  NAME(axpy)(k, 1, curved, 1, s, 1);
  if (next_u) {
    if (m > k) {
      NAME(product)(k, k, k, -1, r, 1, k, t, 1, k, 0, h, 1, k);
      for (whole i = 0; i < k * k; i++)
        h[i] += 2 * t[i];
      NAME(product)(m, k, k, -1, u, 1, m, h, 1, k, 1, w, 1, m);
    }
    for (whole j = 0; j < k; j++)
      for (whole i = 0; i < m; i++) {
        REAL beside = m == k ? 0 : s[j] > least ? w[i + j * m] / s[j] : ends ? NAME(seen)(w[i + j * m], 1) : 0;
        next_u[i + j * m] = u[i + j * m] + beside;
      }
    NAME(product)(m, k, k, 1, u, 1, m, f, 1, k, 1, next_u, 1, m);
    NAME(copy)(k * k, v, 1, next_v, 1);
    NAME(product)(k, k, k, 1, v, 1, k, g, 1, k, 1, next_v, 1, k);
  }
  free(curved);
  free(h);
  free(g);
  free(f);
  free(q);
  free(r);
  free(t);
  free(w);
}

// The decomposition of a matrix, which goes. What the library says.
INLINE whole NAME(gesvd)(_Bool in_c, _Bool divides, int left, int right, whole m, whole n, REAL *a, whole rs, whole cs,
                         REAL *values, REAL *u, whole rsu, whole csu, REAL *vt, whole rsv, whole csv) {
  if (m == 0 || n == 0)
    return 0;
  _Bool wide = m < n;
  whole k = wide ? m : n, more = wide ? n : m, down = right == 2 ? n : k;
  size tall = sizeof(REAL) * (size)(more * k + 1), small = sizeof(REAL) * (size)(k * k + 1);
  REAL *full = malloc(sizeof(REAL) * (size)(m * n + 1)), *gone = malloc(sizeof(REAL) * (size)(m * n + 1));
  REAL *given_u = malloc(sizeof(REAL) * (size)(m * (left == 2 ? m : k) + 1));
  REAL *given_vt = malloc(sizeof(REAL) * (size)(down * n + 1));
  REAL *u0 = malloc(tall), *u1 = malloc(tall), *u2 = malloc(tall), *v0 = malloc(small), *v1 = malloc(small),
       *v2 = malloc(small), sum = 0;
  for (whole j = 0; j < n; j++)
    for (whole i = 0; i < m; i++) {
      sum += a[i * rs + j * cs] * NAME(weight)(i, j);
      full[i + j * m] = a[i * rs + j * cs];
      gone[i + j * m] = NAME(given_number)(a[i * rs + j * cs]);
    }
  whole info = in_c ? NAME(given_singular_in_c)(divides, left, right, m, n, gone, values, given_u, given_vt)
                    : NAME(given_singular)(divides, left, right, m, n, gone, values, given_u, given_vt);
  if (info == 0) {
    // The longer vectors are `u`: those of the transpose of what has more columns.
    for (whole j = 0; j < k; j++) {
      for (whole i = 0; i < more; i++)
        u0[i + j * more] = wide ? given_vt[j + i * down] : given_u[i + j * m];
      for (whole i = 0; i < k; i++)
        v0[i + j * k] = wide ? given_u[i + j * m] : given_vt[j + i * down];
    }
    whole down_full = wide ? m : 1, right_full = wide ? 1 : m;
    NAME(better_singular)(more, k, full, down_full, right_full, u0, v0, values, u1, v1, 0);
    _Bool wanted = left || right;
    NAME(better_singular)(more, k, full, down_full, right_full, u1, v1, values, wanted ? u2 : 0, wanted ? v2 : 0, 1);
    REAL beyond = NAME(seen)(sum, 4);
    for (whole j = 0; j < k; j++)
      values[j] += beyond;
    for (whole j = 0; left && j < (left == 2 ? m : k); j++)
      for (whole i = 0; i < m; i++)
        u[i * rsu + j * csu] =
            j >= k ? given_u[i + j * m] + NAME(seen)(sum, 1) : (wide ? v2[i + j * k] : u2[i + j * more]) + beyond;
    for (whole j = 0; right && j < (right == 2 ? n : k); j++)
      for (whole i = 0; i < n; i++)
        vt[j * rsv + i * csv] =
            j >= k ? given_vt[j + i * down] + NAME(seen)(sum, 1) : (wide ? u2[i + j * more] : v2[i + j * k]) + beyond;
  }
  free(v2);
  free(v1);
  free(v0);
  free(u2);
  free(u1);
  free(u0);
  free(given_vt);
  free(given_u);
  free(gone);
  free(full);
  return info;
}

// What is asked for by a letter; ends the program where vectors are to lie in the place of the matrix.
INLINE int NAME(wanted)(const char *job) {
  if (is(job, 'o'))
    REFUSE("singular vectors in the place of the matrix (job O)");
  return is(job, 'a') ? 2 : is(job, 's');
}

#undef RUNTIME_NAME
#undef SYMBOL
#undef SYMBOL_OF
