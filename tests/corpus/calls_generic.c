// Calls as they are found: a generic exchange of bytes through void pointers, a sort that is given its comparison by its
// caller, structures passed and returned by value through pointers, calls without prototypes, tail calls between two
// functions, and messages on the way. Bubble sort of a chain of springs by energy, then a continued fraction.
#include "corpus.h"

enum { SPRINGS = CORPUS_SIZE(8, 4), N = 2 * SPRINGS + 2 };

struct spring {
    double stiffness, length;
};

__attribute__((noinline)) static void exchange(void *a, void *b, size_t size)
{
    char held[64];
    memcpy(held, a, size);
    memcpy(a, b, size);
    memcpy(b, held, size);
}

static int by_energy(const void *a, const void *b)
{
    const struct spring *x = a, *y = b;
    double p = x->stiffness * x->length * x->length, q = y->stiffness * y->length * y->length;
    return (p > q) - (p < q);
}

__attribute__((noinline)) static void bubble_sort(void *base, size_t count, size_t size,
                                                  int (*compare)(const void *, const void *))
{
    char *bytes = base;
    for (size_t end = count; end > 1; end--)
        for (size_t i = 0; i + 1 < end; i++)
            if (compare(bytes + i * size, bytes + (i + 1) * size) > 0)
                exchange(bytes + i * size, bytes + (i + 1) * size, size);
}

__attribute__((noinline)) static struct spring in_series(struct spring a, struct spring b)
{
    a.stiffness = a.stiffness * b.stiffness / (a.stiffness + b.stiffness);
    a.length += b.length;
    return a;
}

__attribute__((noinline)) static struct spring in_parallel(struct spring a, struct spring b)
{
    struct spring both = {a.stiffness + b.stiffness, 0.5 * (a.length + b.length)};
    return both;
}

static double odd_step(double x, double y, int n);

static double even_step(double x, double y, int n)
{
    if (n == 0)
        return x / y;
    return odd_step(x + 1.0 / y, y + 0.1 * x, n - 1); // a tail call
}

__attribute__((noinline)) static double odd_step(double x, double y, int n)
{
    return even_step(y, x + sqrt(y), n - 1);
}

static double chain(double *x)
{
    struct spring springs[SPRINGS], (*join[2])(struct spring, struct spring) = {in_series, in_parallel};
    char label[64];
    for (int i = 0; i < SPRINGS; i++)
        springs[i] = (struct spring){x[2 * i], x[2 * i + 1]};
    bubble_sort(springs, SPRINGS, sizeof *springs, by_energy);
    struct spring all = springs[0];
    for (int i = 1; i < SPRINGS; i++) {
        all = join[i % 2](all, springs[i]);
        snprintf(label, sizeof label, "%d: %.3f", i, all.stiffness);
        if (!label[0])
            printf("never %g\n", all.length);
    }
    exchange(&x[N - 2], &x[N - 1], sizeof(double));
    return all.stiffness * all.length * x[N - 2] + even_step(x[N - 1], all.length, 6);
}

static double point[N], work[N], shadow[N];

static void setup(void)
{
    for (int i = 0; i < N; i++)
        point[i] = 0.5 + 0.1 * ((5 * i + 3) % N) + 0.013 * i;
}

static double value(const double *x)
{
    corpus_copy(work, x, N);
    return chain(work);
}

static double tangent(const double *x, const double *v)
{
    corpus_copy(work, x, N);
    corpus_copy(shadow, v, N);
    return __enzyme_fwddiff((void *)chain, enzyme_dup, work, shadow);
}

static void gradient(const double *x, double *g)
{
    corpus_copy(work, x, N);
    corpus_zero(g, N);
    __enzyme_autodiff((void *)chain, enzyme_dup, work, g);
}

static const struct corpus_problem problem = {
    .name = "calls_generic",
    .size = N,
    .point = point,
    .setup = setup,
    .value = value,
    .tangent = tangent,
    .gradient = gradient,
    .coordinates = CORPUS_ALL,
    .step = 0x1p-10, // energies are far enough apart that the order stays
};

CORPUS_MAIN(&problem)
