// Functions of one signature that between them use most of what clang emits; the round-trip test runs each beside
// its copy. Every result is finite and depends on the whole of the input.
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
  double x, y;
  int tag;
  float w;
} Particle;

static double table[8] = {1, 2, 4, 8, 16, 32, 64, 128};
static const char *names[] = {"zero", "one", "two"};
int counter;

static double helper(const double *x, int n, double scale) {
  double s = 0;
  for (int i = 0; i < n; ++i)
    s += scale * x[i];
  return s;
}

double k_sum(double *x, int n) { return helper(x, n, 2.0); }

double k_branches(double *x, int n) {
  double s = 0;
  for (int i = 0; i < n; ++i) {
    if (x[i] > 0.5 && x[i] < 0.9)
      s += sin(x[i]);
    else if (x[i] <= 0.1)
      continue;
    else
      s -= x[i] * x[i];
    if (s > 100)
      break;
  }
  return s;
}

double k_switch(double *x, int n) {
  double s = 0;
  for (int i = 0; i < n; ++i) {
    switch (i % 7) {
    case 0: s += x[i]; break;
    case 1: s *= 1.5;
    case 2: s -= x[i]; break;
    case 5: return s + table[i & 7];
    default: s += table[i & 7] * x[i];
    }
  }
  return s;
}

double k_inplace(double *x, int n) {
  for (int t = 0; t < 3; ++t)
    for (int i = 1; i + 1 < n; ++i)
      x[i] = 0.25 * x[i - 1] + 0.5 * x[i] + 0.25 * x[i + 1];
  return x[n / 2];
}

double k_structs(double *x, int n) {
  Particle ps[4];
  memset(ps, 0, sizeof ps);
  for (int i = 0; i < n; ++i) {
    Particle p = ps[i % 4];
    p.x += x[i];
    p.y -= p.x;
    p.tag += i;
    p.w = (float)(p.w * 0.5f + x[i]);
    ps[i % 4] = p;
  }
  double s = 0;
  for (int i = 0; i < 4; ++i)
    s += ps[i].x * ps[i].y + ps[i].tag + ps[i].w;
  return s;
}

double k_heap(double *x, int n) {
  double *copy = malloc(n * sizeof *copy);
  memcpy(copy, x, n * sizeof *copy);
  for (int i = 0; i < n; ++i)
    copy[i] = fma(copy[i], x[n - 1 - i], 1.0);
  double s = 0;
  for (int i = n; i-- > 0;)
    s = s * 0.5 + copy[i];
  free(copy);
  return s;
}

double k_integers(double *x, int n) {
  uint64_t h = 1469598103934665603ull;
  for (int i = 0; i < n; ++i) {
    uint64_t bits;
    memcpy(&bits, &x[i], 8);
    h = (h ^ bits) * 1099511628211ull;
    h = (h << 13) | (h >> 51);
    h -= (unsigned)(i / 3) % 5u;
  }
  return (double)(h >> 40) + (double)(int32_t)h;
}

static double fib(double a, int n) { return n < 2 ? a : fib(a, n - 1) + fib(a * 0.5, n - 2); }
double k_recursion(double *x, int n) { return fib(x[0], n % 12); }

double k_goto(double *x, int n) {
  int i = 0;
  double s = 0;
again:
  if (i >= n)
    goto done;
  s += x[i];
  if (s > 3) {
    i += 2;
    goto middle;
  }
  ++i;
  goto again;
middle:
  s *= 0.75;
  if (i < n)
    goto again;
done:
  return s;
}

static double twice(double v) { return 2 * v; }
static double thrice(double v) { return 3 * v; }
double k_pointers(double *x, int n) {
  double (*f[2])(double) = {twice, thrice};
  double s = 0;
  for (int i = 0; i < n; ++i)
    s += f[i & 1](x[i]);
  counter += n;
  return s + counter * 0 + (double)strlen(names[n % 3]);
}

long double quad(long double v) { return v * v + 1.0L; }
double k_long_double(double *x, int n) {
  long double s = 0;
  for (int i = 0; i < n; ++i)
    s += quad(x[i]) / (i + 1);
  return (double)s;
}

double k_vla(double *x, int n) {
  double t[n];
  for (int i = 0; i < n; ++i)
    t[i] = x[i] * i;
  double s = 0;
  for (int i = 0; i < n; i += 2)
    s += t[i];
  return s;
}

typedef float v4 __attribute__((vector_size(16)));
double k_vectors(double *x, int n) {
  v4 a = {1, 2, 3, 4};
  for (int i = 0; i < n; ++i) {
    v4 b = {(float)x[i], (float)x[n - 1 - i], 1, 0};
    a = a * b + __builtin_shufflevector(a, b, 0, 5, 2, 3);
    if (a[i & 3] > 10)
      a[i & 3] = 1;
  }
  return a[0] + a[1] + a[2] + a[3];
}

_Complex double square(_Complex double z) { return z * z; }
double k_complex(double *x, int n) {
  _Complex double z = 0.1;
  for (int i = 0; i + 1 < n; ++i)
    z = square(z) * 0.25 + x[i] + x[i + 1] * 1.0i;
  return __real__ z + 2 * __imag__ z;
}

double k_atomics(double *x, int n) {
  static _Atomic int shared;
  shared = 0;
  for (int i = 0; i < n; ++i)
    __c11_atomic_fetch_add(&shared, (int)(10 * x[i]), __ATOMIC_SEQ_CST);
  int expected = 5;
  __c11_atomic_compare_exchange_strong(&shared, &expected, 7, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED);
  return shared + expected;
}
