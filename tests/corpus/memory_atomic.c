// Atomic and volatile accesses in code that one thread runs: loads, stores, exchanges, sums; and how often a volatile
// variable is read.
#include "corpus.h"

#include <stdatomic.h>

enum { SIZE = CORPUS_SIZE(24, 6) };

static double atomic_loss(const double *x, int n)
{
    _Atomic double total = 0.0, last = 1.0;
    _Atomic int turns = 0;
    double cell = 0.5, out = 0.0;
    float single = 1.0f;
    volatile double latch = 0.0;
    for (int i = 0; i < n; i++) {
        atomic_store(&last, x[i] * x[i]);
        double old = atomic_exchange(&total, atomic_load(&last) + x[i]);
        atomic_fetch_add(&turns, 1);
        __atomic_fetch_add(&cell, old * x[i], __ATOMIC_SEQ_CST);
        __atomic_fetch_sub(&single, (float)(0.125 * x[i]), __ATOMIC_RELAXED);
        latch = latch * x[i] + cell;
        out += latch / (double)(atomic_load_explicit(&turns, memory_order_relaxed));
    }
    return out + atomic_load(&total) + atomic_load_explicit(&turns, memory_order_acquire) * cell + single;
}

static double point[SIZE];

static void setup(void)
{
    corpus_seed(7);
    corpus_fill(point, SIZE, 0.3, 0.9);
}

static double value(const double *x)
{
    return atomic_loss(x, SIZE);
}

static double tangent(const double *x, const double *v)
{
    return __enzyme_fwddiff((void *)atomic_loss, enzyme_dup, x, v, enzyme_const, SIZE);
}

static void gradient(const double *x, double *g)
{
    corpus_zero(g, SIZE);
    __enzyme_autodiff((void *)atomic_loss, enzyme_dup, x, g, enzyme_const, SIZE);
}

static const struct corpus_problem problem = {
    .name = "memory_atomic",
    .size = SIZE,
    .point = point,
    .setup = setup,
    .value = value,
    .tangent = tangent,
    .gradient = gradient,
    .fd_tolerance = 1e-4, // one sum is float
    .dot_tolerance = 1e-6,
};

CORPUS_MAIN(&problem)
