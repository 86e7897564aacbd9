// Loops over lists: pairs of atoms near each other, edges of a mesh, entries of a sparse matrix. Of what each step
// overwrites the old values are kept, one for each atom, node or row, not what is read for each pair, edge or entry
// (`tests/tests/snapshots.rs`).
//
//   atoms    F = 24 (2 q^6 - q^3) / r^2 d, q = 1 / r^2, over a list for each atom; v += dt F, x += dt v
//   flow     r_a -= F(u_a, u_b), r_b += F(u_a, u_b) over edges, F the Rusanov flux of Burgers' equation; u += dt r
//   power    y = d A x + (1 - d) / n, x = y / |y|, A by rows
//
// loss = sums of squares at the end. Active: positions; the state of the flow and widths of its edges; entries of A,
// and d. Sources: Verlet, "Computer experiments on classical fluids I", Physical Review 159, 1967 (lists); LeVeque,
// "Finite Volume Methods for Hyperbolic Problems", 2002, section 12.5; Langville, Meyer, "Google's PageRank and
// Beyond", 2006, section 4.
#include "corpus.h"

enum {
  SIDE = CORPUS_SIZE(3, 2),
  ATOMS = SIDE * SIDE * SIDE,
  NODES = SIDE * SIDE,
  EDGES = 2 * SIDE * (SIDE - 1),
  ROWS = CORPUS_SIZE(7, 4),
  ENTRIES = 3 * ROWS,
  STEPS = CORPUS_SIZE(6, 3),
  COUNT = 3 * ATOMS + NODES + EDGES + ENTRIES + 1
};

static int first[ATOMS + 1], near[ATOMS * ATOMS], from[EDGES], to[EDGES], row[ROWS + 1], column[ENTRIES];

__attribute__((noinline)) static double atoms(const double *restrict start, double *restrict x, double *restrict v,
                                              double *restrict f, const int *list, const int *others, int n, int steps,
                                              double dt) {
  for (int i = 0; i < 3 * n; i++) {
    x[i] = start[i];
    v[i] = 0.0;
  }
  for (int t = 0; t < steps; t++) {
    for (int i = 0; i < 3 * n; i++)
      f[i] = 0.0;
    for (int i = 0; i < n; i++) {
      double sum[3] = {0.0, 0.0, 0.0};
      for (int k = list[i]; k < list[i + 1]; k++) {
        int j = others[k];
        double a = x[3 * i] - x[3 * j], b = x[3 * i + 1] - x[3 * j + 1], c = x[3 * i + 2] - x[3 * j + 2];
        double q = 1.0 / (a * a + b * b + c * c), cube = q * q * q;
        double force = 24.0 * cube * (2.0 * cube - 1.0) * q;
        sum[0] += force * a;
        sum[1] += force * b;
        sum[2] += force * c;
        f[3 * j] -= force * a;
        f[3 * j + 1] -= force * b;
        f[3 * j + 2] -= force * c;
      }
      for (int k = 0; k < 3; k++)
        f[3 * i + k] += sum[k];
    }
    for (int i = 0; i < 3 * n; i++) {
      v[i] += dt * f[i];
      x[i] += dt * v[i];
    }
  }
  double sum = 0.0;
  for (int i = 0; i < 3 * n; i++)
    sum += v[i] * v[i];
  return sum;
}

__attribute__((noinline)) static double flow(const double *start, const double *width, double *u, double *rate,
                                             const int *a, const int *b, int nodes, int edges, int steps, double dt) {
  for (int i = 0; i < nodes; i++)
    u[i] = start[i];
  for (int t = 0; t < steps; t++) {
    for (int i = 0; i < nodes; i++)
      rate[i] = 0.0;
    for (int e = 0; e < edges; e++) {
      double left = u[a[e]], right = u[b[e]], speed = sqrt(1.0 + left * left + right * right);
      double flux = width[e] * (0.25 * (left * left + right * right) - 0.5 * speed * (right - left));
      rate[a[e]] -= flux;
      rate[b[e]] += flux;
    }
    for (int i = 0; i < nodes; i++)
      u[i] += dt * rate[i];
  }
  double sum = 0.0;
  for (int i = 0; i < nodes; i++)
    sum += u[i] * u[i];
  return sum;
}

// The same, where the arrays are said to be apart.
__attribute__((noinline)) static double flow_apart(const double *restrict start, const double *restrict width,
                                                   double *restrict u, double *restrict rate, const int *a,
                                                   const int *b, int nodes, int edges, int steps, double dt) {
  for (int i = 0; i < nodes; i++)
    u[i] = start[i];
  for (int t = 0; t < steps; t++) {
    for (int i = 0; i < nodes; i++)
      rate[i] = 0.0;
    for (int e = 0; e < edges; e++) {
      double left = u[a[e]], right = u[b[e]], speed = sqrt(1.0 + left * left + right * right);
      double flux = width[e] * (0.25 * (left * left + right * right) - 0.5 * speed * (right - left));
      rate[a[e]] -= flux;
      rate[b[e]] += flux;
    }
    for (int i = 0; i < nodes; i++)
      u[i] += dt * rate[i];
  }
  double sum = 0.0;
  for (int i = 0; i < nodes; i++)
    sum += u[i] * u[i];
  return sum;
}

__attribute__((noinline)) static double power(const double *restrict entries, const double *restrict damping,
                                              double *restrict x, double *restrict y, const int *rows,
                                              const int *columns, int n, int steps) {
  for (int i = 0; i < n; i++)
    x[i] = 1.0 / n;
  for (int t = 0; t < steps; t++) {
    double square = 0.0;
    for (int i = 0; i < n; i++) {
      double sum = 0.0;
      for (int k = rows[i]; k < rows[i + 1]; k++)
        sum += entries[k] * x[columns[k]];
      y[i] = damping[0] * sum + (1.0 - damping[0]) / n;
    }
    for (int i = 0; i < n; i++)
      square += y[i] * y[i];
    for (int i = 0; i < n; i++)
      x[i] = y[i] / sqrt(square);
  }
  double sum = 0.0;
  for (int i = 0; i < n; i++)
    sum += (i + 1) * x[i];
  return sum;
}

static double point[COUNT], work[9 * ATOMS + 2 * NODES + 2 * ROWS], shadow[9 * ATOMS + 2 * NODES + 2 * ROWS];

static void setup(void) {
  int n = 0;
  for (int a = 0; a < SIDE; a++)
    for (int b = 0; b < SIDE; b++)
      for (int c = 0; c < SIDE; c++) {
        point[n++] = 1.1 * a + 0.01 * b * c;
        point[n++] = 1.15 * b - 0.01 * a;
        point[n++] = 1.2 * c + 0.02 * a * b;
      }
  for (; n < COUNT; n++)
    point[n] = 0.4 + 0.3 * ((n * 7) % 11) / 11.0;
  // An atom without neighbours, and a row without entries, among the others.
  for (int i = n = 0; i < ATOMS; i++) {
    first[i] = n;
    for (int j = i + 1; j < ATOMS && i != 1; j++)
      if (i % 2 == 0 || j % 3 != 0)
        near[n++] = j;
  }
  first[ATOMS] = n;
  n = 0;
  for (int i = 0; i < SIDE; i++)
    for (int j = 0; j < SIDE; j++) {
      if (i + 1 < SIDE) {
        from[n] = i * SIDE + j;
        to[n] = from[n] + SIDE;
        n++;
      }
      if (j + 1 < SIDE) {
        from[n] = i * SIDE + j;
        to[n] = from[n] + 1;
        n++;
      }
    }
  for (int i = n = 0; i < ROWS; i++) {
    row[i] = n;
    for (int k = 0; k < 3 && i != 2; k++)
      column[n++] = (2 * i + k * k) % ROWS;
  }
  row[ROWS] = n;
}

// Where each part lies in the point and in the work space.
enum { STATE = 3 * ATOMS, WIDTHS = STATE + NODES, MATRIX = WIDTHS + EDGES, DAMPING = MATRIX + ENTRIES };
enum { FLOW = 9 * ATOMS, POWER = FLOW + 2 * NODES };

static double value(const double *x) {
  double *w = work;
  double sum = atoms(x, w, w + 3 * ATOMS, w + 6 * ATOMS, first, near, ATOMS, STEPS, 0.001);
  sum += flow(x + STATE, x + WIDTHS, w + FLOW, w + FLOW + NODES, from, to, NODES, EDGES, STEPS, 0.1);
  sum += flow_apart(x + STATE, x + WIDTHS, w + FLOW, w + FLOW + NODES, from, to, NODES, EDGES, STEPS, 0.1);
  return sum + power(x + MATRIX, x + DAMPING, w + POWER, w + POWER + ROWS, row, column, ROWS, STEPS);
}

static double tangent(const double *x, const double *v) {
  double *w = work, *s = shadow;
  double sum = __enzyme_fwddiff((void *)atoms, enzyme_dup, x, v, enzyme_dup, w, s, enzyme_dup, w + 3 * ATOMS,
                                s + 3 * ATOMS, enzyme_dup, w + 6 * ATOMS, s + 6 * ATOMS, enzyme_const, first,
                                enzyme_const, near, enzyme_const, ATOMS, enzyme_const, STEPS, enzyme_const, 0.001);
  sum += __enzyme_fwddiff((void *)flow, enzyme_dup, x + STATE, v + STATE, enzyme_dup, x + WIDTHS, v + WIDTHS,
                          enzyme_dup, w + FLOW, s + FLOW, enzyme_dup, w + FLOW + NODES, s + FLOW + NODES, enzyme_const,
                          from, enzyme_const, to, enzyme_const, NODES, enzyme_const, EDGES, enzyme_const, STEPS,
                          enzyme_const, 0.1);
  sum += __enzyme_fwddiff((void *)flow_apart, enzyme_dup, x + STATE, v + STATE, enzyme_dup, x + WIDTHS, v + WIDTHS,
                          enzyme_dup, w + FLOW, s + FLOW, enzyme_dup, w + FLOW + NODES, s + FLOW + NODES, enzyme_const,
                          from, enzyme_const, to, enzyme_const, NODES, enzyme_const, EDGES, enzyme_const, STEPS,
                          enzyme_const, 0.1);
  return sum + __enzyme_fwddiff((void *)power, enzyme_dup, x + MATRIX, v + MATRIX, enzyme_dup, x + DAMPING, v + DAMPING,
                                enzyme_dup, w + POWER, s + POWER, enzyme_dup, w + POWER + ROWS, s + POWER + ROWS,
                                enzyme_const, row, enzyme_const, column, enzyme_const, ROWS, enzyme_const, STEPS);
}

static void gradient(const double *x, double *g) {
  double *w = work, *s = shadow;
  corpus_zero(g, COUNT);
  corpus_zero(s, (int)(sizeof shadow / sizeof *shadow));
  __enzyme_autodiff((void *)atoms, enzyme_dup, x, g, enzyme_dup, w, s, enzyme_dup, w + 3 * ATOMS, s + 3 * ATOMS,
                    enzyme_dup, w + 6 * ATOMS, s + 6 * ATOMS, enzyme_const, first, enzyme_const, near, enzyme_const,
                    ATOMS, enzyme_const, STEPS, enzyme_const, 0.001);
  __enzyme_autodiff((void *)flow, enzyme_dup, x + STATE, g + STATE, enzyme_dup, x + WIDTHS, g + WIDTHS, enzyme_dup,
                    w + FLOW, s + FLOW, enzyme_dup, w + FLOW + NODES, s + FLOW + NODES, enzyme_const, from,
                    enzyme_const, to, enzyme_const, NODES, enzyme_const, EDGES, enzyme_const, STEPS, enzyme_const, 0.1);
  __enzyme_autodiff((void *)flow_apart, enzyme_dup, x + STATE, g + STATE, enzyme_dup, x + WIDTHS, g + WIDTHS,
                    enzyme_dup, w + FLOW, s + FLOW, enzyme_dup, w + FLOW + NODES, s + FLOW + NODES, enzyme_const, from,
                    enzyme_const, to, enzyme_const, NODES, enzyme_const, EDGES, enzyme_const, STEPS, enzyme_const, 0.1);
  __enzyme_autodiff((void *)power, enzyme_dup, x + MATRIX, g + MATRIX, enzyme_dup, x + DAMPING, g + DAMPING, enzyme_dup,
                    w + POWER, s + POWER, enzyme_dup, w + POWER + ROWS, s + POWER + ROWS, enzyme_const, row,
                    enzyme_const, column, enzyme_const, ROWS, enzyme_const, STEPS);
}

static const struct corpus_problem problem = {
    .name = "over_lists",
    .size = COUNT,
    .point = point,
    .setup = setup,
    .value = value,
    .tangent = tangent,
    .gradient = gradient,
};

CORPUS_MAIN(&problem)
