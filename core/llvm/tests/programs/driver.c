// Runs every kernel and its copy on the same data, prints their results and what they left in memory.
#include <stdio.h>
#include <string.h>

#define EACH(F)                                                                                                       \
  F(k_sum) F(k_branches) F(k_switch) F(k_inplace) F(k_structs) F(k_heap) F(k_integers) F(k_recursion) F(k_goto)       \
  F(k_pointers) F(k_long_double) F(k_vla) F(k_vectors) F(k_complex) F(k_atomics)

#define DECLARE(f) double f(double *, int); double copy_##f(double *, int);
EACH(DECLARE)

extern int counter;

static void show(const char *name, double (*f)(double *, int)) {
  for (int n = 3; n <= 17; n += 7) {
    double x[17];
    for (int i = 0; i < n; ++i)
      x[i] = 1.0 / (i + 1) + (i % 3) * 0.25;
    counter = 0;
    double r = f(x, n), s = 0;
    for (int i = 0; i < n; ++i)
      s = s * 0.99 + x[i];
    printf("%s %d %.17g %.17g %d\n", name, n, r, s, counter);
  }
}

// `copy_` names may be defined to be the originals.
#define ORIGINAL(f) show(#f, f);
#define COPY(f) show(#f, copy_##f);
int main(int argc, char **argv) {
  if (argc > 1 && !strcmp(argv[1], "copy")) {
    EACH(COPY)
  } else {
    EACH(ORIGINAL)
  }
}
