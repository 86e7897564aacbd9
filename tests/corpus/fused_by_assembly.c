// Kernels in the style of hand-written vector code for x86 with inline assembly: fused products and sums in all of
// their forms, by Horner's rule in four lanes (Remez polynomial of exp on [-ln2/2, ln2/2]), in one lane, and
// differences of products without cancellation (Kahan's determinant). Buffers are aligned by hand, as libraries do that
// are to run where nothing else aligns. Source: Muller et al., "Handbook of Floating-Point Arithmetic", 2nd ed. (2018),
// sections 5.2 and 4.4.
//
// corpus: native
#include "corpus.h"

#include <stdint.h>

enum { N = 12, SIZE = N };

#if defined(__x86_64__)
#define FMA __attribute__((target("avx2,fma")))
typedef double v4 __attribute__((vector_size(32)));

FMA static v4 fused(v4 a, v4 b, v4 c)
{
    __asm__("vfmadd231pd %[a], %[b], %[c]" : [c] "+x"(c) : [a] "x"(a), [b] "x"(b));
    return c;
}

// a * c - b, in the place of a.
FMA static v4 less(v4 a, v4 b, v4 c)
{
    __asm__("vfmsub132pd %2, %1, %0" : "+x"(a) : "x"(b), "x"(c));
    return a;
}

FMA static double negated(double a, double b, double c)
{
    __asm__("vfnmadd213sd %2, %1, %0" : "+x"(a) : "x"(b), "x"(c));
    return a;
}

FMA static double without(double a, double b, double c)
{
    __asm__("vfnmsub231sd %1, %2, %0" : "+x"(c) : "x"(a), "x"(b));
    return c;
}

static void *aligned(size_t bytes, size_t alignment)
{
    void *memory = malloc(bytes + alignment);
    if (!memory)
        return NULL;
    void **start = (void **)(((uintptr_t)memory & ~(uintptr_t)(alignment - 1)) + alignment);
    start[-1] = memory;
    return start;
}

static void release(void *start)
{
    if (start)
        free(((void **)start)[-1]);
}

FMA static double run(const double *x)
{
    static const double coefficients[] = {1.0 / 120, 1.0 / 24, 1.0 / 6, 0.5, 1.0, 1.0};
    double *values = aligned(N * sizeof(double), 32), *copies = aligned(N * sizeof(double), 64), sum = 0.0;
    for (int i = 0; i < N; i++)
        values[i] = 0.3 * x[i];
    for (int i = 0; i < N; i += 4) {
        v4 t = *(v4 *)(values + i), p = t * 0.0 + coefficients[0];
        for (int k = 1; k < 6; k++)
            p = fused(p, t, (v4){coefficients[k], coefficients[k], coefficients[k], coefficients[k]});
        *(v4 *)(values + i) = less(p, t, t + 1.0);
    }
    memcpy(copies, values, N * sizeof(double));
    for (int i = 0; i + 3 < N; i++) {
        double w = copies[i + 1] * copies[i + 2], error = negated(copies[i + 1], copies[i + 2], w);
        sum += without(copies[i], copies[i + 3], error) - w;
    }
    release(copies);
    release(values);
    return sum;
}
#else
static double run(const double *x)
{
    double sum = 0.0;
    for (int i = 0; i < N; i++)
        sum += exp(x[i]);
    return sum;
}
#endif

static double point[SIZE];

static void setup(void)
{
#if defined(__x86_64__)
    if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma")) {
        printf("RESULT fused_by_assembly value=0 gradnorm=0 fd_err=0 dot_err=0\n"); // no FMA
        exit(0);
    }
#endif
    corpus_seed(23);
    corpus_fill(point, SIZE, -0.9, 0.9);
}

static double value(const double *x)
{
    return run(x);
}

static double tangent(const double *x, const double *v)
{
    return __enzyme_fwddiff((void *)run, enzyme_dup, x, v);
}

static void gradient(const double *x, double *g)
{
    corpus_zero(g, SIZE);
    __enzyme_autodiff((void *)run, enzyme_dup, x, g);
}

static const struct corpus_problem problem = {
    .name = "fused_by_assembly",
    .size = SIZE,
    .point = point,
    .setup = setup,
    .value = value,
    .tangent = tangent,
    .gradient = gradient,
    .coordinates = CORPUS_ALL,
};

CORPUS_MAIN(&problem)
