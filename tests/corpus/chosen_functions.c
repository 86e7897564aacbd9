// Derivatives of functions that are chosen while the program runs: robust losses by name from a table, a link function
// behind a condition, a variable or what another function returns, and one helper for all of them, as programs that fit
// models to data have them. Sum over the data of loss(y - link(a + b x)), each of three links with each of four losses.
// Source: Huber, "Robust estimation of a location parameter" (1964); McCullagh, Nelder, "Generalized linear models"
// (1989).
#include "corpus.h"

enum { DATA = CORPUS_SIZE(40, 7), N = 2 };

CORPUS_MARKER_VOID(__enzyme_autodiff_chosen)
CORPUS_MARKER(double, __enzyme_fwddiff_chosen)
CORPUS_MARKER(double, __enzyme_autodiff_returned)

static double xs[DATA], ys[DATA];

typedef double scalar(double);

static double square(double r) { return 0.5 * r * r; }

static double huber(double r) { return fabs(r) < 0.3 ? 0.5 * r * r : 0.3 * (fabs(r) - 0.15); }

static double cauchy(double r) { return 0.5 * log1p(r * r); }

static double fair(double r) { return fabs(r) - log1p(fabs(r)); }

static double logistic(double t) { return 1.0 / (1.0 + exp(-t)); }

static double exponential(double t) { return exp(0.5 * t); }

static double identity(double t) { return t; }

// Names beside functions, as in tables of options.
static const struct loss {
  const char *name;
  scalar *of, *unused;
} losses[] = {{"square", square, 0}, {"huber", huber, 0}, {"cauchy", cauchy, 0}, {"fair", fair, 0}};
// Without const, but nobody writes to it.
static scalar *links[] = {identity, logistic, exponential};

enum { LOSSES = CORPUS_COUNT(losses), LINKS = CORPUS_COUNT(links) };

// What another function gives, with a case that does not come.
__attribute__((noinline)) static scalar *link_named(char name) {
  switch (name) {
  case 'i':
    return identity;
  case 'l':
    return logistic;
  case 'e':
    return exponential;
  default:
    return 0;
  }
}

// A helper that is given the function; the programs' own name for the marker.
__attribute__((noinline)) static double slope(scalar *f, double at) {
  return __enzyme_autodiff_returned((void *)f, at);
}

__attribute__((noinline)) static double slope_forward(scalar *f, double at) {
  return __enzyme_fwddiff_chosen((void *)f, at, 1.0);
}

static double objective(const double *p) {
  double sum = 0.0;
  for (int k = 0; k < LINKS; k++)
    for (int l = 0; l < LOSSES; l++)
      for (int i = 0; i < DATA; i++)
        sum += losses[l].of(ys[i] - links[k](p[0] + p[1] * xs[i])) / (1.0 + l + k);
  return sum / DATA;
}

// The chain rule by hand, of derivatives that are chosen in the ways above.
static void by_slopes(const double *p, double *g) {
  scalar *local[] = {identity, logistic, exponential};
  for (int k = 0; k < LINKS; k++) {
    scalar *link = 0;
    if (k == 0)
      link = identity;
    else if (k == 1)
      link = logistic;
    else
      link = exponential;
    for (int l = 0; l < LOSSES; l++)
      for (int i = 0; i < DATA; i++) {
        double t = p[0] + p[1] * xs[i], r = ys[i] - links[k](t), inner;
        double outer = __enzyme_autodiff_returned((void *)losses[l].of, r);
        switch (i % 5) {
        case 0:
          inner = __enzyme_autodiff_returned((void *)links[k], t);
          break;
        case 1:
          inner = __enzyme_autodiff_returned((void *)link, t);
          break;
        case 2:
          inner = __enzyme_autodiff_returned((void *)link_named("ile"[k]), t);
          break;
        case 3:
          inner = slope(local[k], t);
          break;
        default:
          inner = __enzyme_autodiff_returned((void *)local[k], t);
          break;
        }
        g[0] -= outer * inner / (1.0 + l + k) / DATA;
        g[1] -= outer * inner * xs[i] / (1.0 + l + k) / DATA;
      }
  }
}

static void by_tangents(const double *p, double *g) {
  for (int k = 0; k < LINKS; k++)
    for (int l = 0; l < LOSSES; l++)
      for (int i = 0; i < DATA; i++) {
        double t = p[0] + p[1] * xs[i], r = ys[i] - links[k](t);
        double both = slope_forward(l < 2 ? (l ? huber : square) : losses[l].of, r) *
                      __enzyme_fwddiff_chosen((void *)(k == 0 ? identity : links[k]), t, 1.0);
        g[0] -= both / (1.0 + l + k) / DATA;
        g[1] -= both * xs[i] / (1.0 + l + k) / DATA;
      }
}

// Objectives that are chosen, of memory, without a result.
static void half(const double *p, double *out) { *out = 0.5 * objective(p); }

static void third(const double *p, double *out) { *out = objective(p) / 3.0; }

static void of_memory(const double *p, double *g) {
  double sum[N] = {0.0, 0.0}, out = 0.0;
  for (int n = 0; n < 2; n++) {
    double seed = n ? 3.0 * 0.25 : 2.0 * 0.75;
    void (*f)(const double *, double *) = n ? third : half;
    __enzyme_autodiff_chosen((void *)f, enzyme_dup, p, sum, enzyme_dupnoneed, &out, &seed);
  }
  for (int i = 0; i < N; i++)
    g[i] = sum[i];
}

static double point[N];

static void setup(void) {
  corpus_seed(61);
  corpus_fill(xs, DATA, -1.0, 1.0);
  for (int i = 0; i < DATA; i++)
    ys[i] = 0.4 + 0.9 * xs[i] + 0.07 * (i % 7 - 3);
  point[0] = 0.31;
  point[1] = 0.83;
}

static double tangent(const double *x, const double *v) {
  return __enzyme_fwddiff((void *)objective, enzyme_dup, x, v);
}

static void gradient(const double *x, double *g) {
  corpus_zero(g, N);
  __enzyme_autodiff((void *)objective, enzyme_dup, x, g);
}

static void gradient_by_slopes(const double *x, double *g) {
  corpus_zero(g, N);
  by_slopes(x, g);
}

static void gradient_by_tangents(const double *x, double *g) {
  corpus_zero(g, N);
  by_tangents(x, g);
}

static const struct corpus_problem problem = {
    .name = "chosen_functions",
    .size = N,
    .point = point,
    .setup = setup,
    .value = objective,
    .tangent = tangent,
    .gradient = gradient,
    .coordinates = CORPUS_ALL,
    .variants = {{.name = "slopes", .gradient = gradient_by_slopes},
                 {.name = "tangents", .gradient = gradient_by_tangents},
                 {.name = "memory", .gradient = of_memory}},
    .step = 0x1p-12, // no residual crosses a corner of the losses
};

CORPUS_MAIN(&problem)
