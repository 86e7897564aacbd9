// corpus: native
//
// Tables that are searched from one end to the other by the C library, and grow: `lsearch` gathers reactions by name,
// `lfind` looks rate constants up; what wide characters are moved with moves floats, too (`wmemcpy`, `wmemmove`: four
// bytes each). The loss is a power sum over the gathered rates.
#include "corpus.h"

#include <search.h>
#include <wchar.h>

enum { EVENTS = CORPUS_SIZE(24, 8), SPECIES = 5, N = EVENTS + SPECIES };

struct reaction {
  int name;
  double rate, weight;
};

static int by_name(const void *a, const void *b) {
  return ((const struct reaction *)a)->name - ((const struct reaction *)b)->name;
}

static double network(const double *x) {
  struct reaction table[SPECIES], constants[SPECIES];
  size_t count = 0, all = SPECIES;
  for (int i = 0; i < SPECIES; i++)
    constants[i] = (struct reaction){.name = 7 * i, .rate = x[EVENTS + i], .weight = 1.0 + i};
  for (int i = 0; i < EVENTS; i++) {
    const struct reaction event = {.name = 7 * ((3 * i) % SPECIES), .rate = 0.0, .weight = 0.0};
    struct reaction *found = lsearch(&event, table, &count, sizeof event, by_name);
    const struct reaction *constant = lfind(&event, constants, &all, sizeof event, by_name);
    found->rate += x[i] * constant->rate;
    found->weight += constant->weight * x[i] * x[i];
  }
  float singles[SPECIES], shifted[SPECIES + 1];
  for (size_t i = 0; i < count; i++)
    singles[i] = (float)(0.25 * table[i].weight);
  wmemcpy((wchar_t *)shifted, (const wchar_t *)singles, count);
  wmemmove((wchar_t *)shifted + 1, (const wchar_t *)shifted, count);
  double loss = 0.0;
  for (size_t i = 0; i < count; i++)
    loss += pow(table[i].rate, 3.0) * table[i].weight + 20.0 * (double)shifted[i + 1] * (double)shifted[i];
  return loss;
}

static double point[N];

static void setup(void) {
  corpus_seed(69);
  corpus_fill(point, N, 0.3, 1.2);
}

static double tangent(const double *x, const double *v) { return __enzyme_fwddiff((void *)network, enzyme_dup, x, v); }

static void gradient(const double *x, double *g) {
  corpus_zero(g, N);
  __enzyme_autodiff((void *)network, enzyme_dup, x, g);
}

static const struct corpus_problem problem = {
    .name = "calls_lsearch",
    .size = N,
    .point = point,
    .setup = setup,
    .value = network,
    .tangent = tangent,
    .gradient = gradient,
    .coordinates = CORPUS_ALL,
    // A part of the loss goes through floats, whose rounding the differences see.
    .fd_tolerance = 1e-4,
    .dot_tolerance = 1e-6,
    .step = 0x1p-6,
};

CORPUS_MAIN(&problem)
