// Local vectors wider than what malloc aligns to, passed by address through functions that stay calls: four particles in a
// lane each, moved by a symplectic step in a quartic well. Their places in a derivative must be aligned as the locals are. Machines without AVX2 skip it.
// corpus: native
#include "corpus.h"

#if defined(__x86_64__)
#define AVX __attribute__((target("avx2,fma")))
#else
#define AVX
#endif

enum { N = 12, SIZE = N };

typedef double v4 __attribute__((vector_size(32)));

AVX __attribute__((noinline)) static void force(const v4 *position, v4 *result)
{
    *result = -*position * *position * *position - 0.5 * *position;
}

AVX __attribute__((noinline)) static void step(v4 *position, v4 *speed, double time)
{
    v4 pull;
    force(position, &pull);
    *speed += time * pull;
    *position += time * *speed;
}

AVX static double energy(const double *x, int n)
{
    v4 position = {x[0], x[1], x[2], x[3]}, speed = {x[4], x[5], x[6], x[7]};
    double sum = 0.0;
    for (int i = 0; i < n; i++) {
        step(&position, &speed, 0.1 * x[8 + i % 4]);
        sum += position[i % 4] * speed[(i + 1) % 4];
    }
    return sum + position[0] * position[1] + speed[2] * position[3];
}

static double point[SIZE];

static void setup(void)
{
#if defined(__x86_64__)
    if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma")) {
        printf("RESULT vector_slots value=0 gradnorm=0 fd_err=0 dot_err=0\n"); // no AVX2
        exit(0);
    }
#endif
    corpus_seed(11);
    corpus_fill(point, SIZE, 0.3, 0.9);
}

static double value(const double *x)
{
    return energy(x, SIZE);
}

static double tangent(const double *x, const double *v)
{
    return __enzyme_fwddiff((void *)energy, enzyme_dup, x, v, enzyme_const, SIZE);
}

static void gradient(const double *x, double *g)
{
    corpus_zero(g, SIZE);
    __enzyme_autodiff((void *)energy, enzyme_dup, x, g, enzyme_const, SIZE);
}

static const struct corpus_problem problem = {
    .name = "vector_slots",
    .size = SIZE,
    .point = point,
    .setup = setup,
    .value = value,
    .tangent = tangent,
    .gradient = gradient,
};

CORPUS_MAIN(&problem)
