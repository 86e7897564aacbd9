// Generic containers over void *: elements of any size are moved by char copies in a loop, as in hand-written qsort
// and swap routines. Records with a double key are heap-sorted through a comparison callback, then summed with
// weights by rank.
#include "corpus.h"

static void swap_bytes(void *a, void *b, size_t size)
{
    char *p = a, *q = b;
    while (size-- > 0) {
        char t = *p;
        *p++ = *q;
        *q++ = t;
    }
}

static void sift(char *base, size_t root, size_t end, size_t size, int (*compare)(const void *, const void *))
{
    for (;;) {
        size_t child = 2 * root + 1;
        if (child >= end)
            return;
        if (child + 1 < end && compare(base + child * size, base + (child + 1) * size) < 0)
            child++;
        if (compare(base + root * size, base + child * size) >= 0)
            return;
        swap_bytes(base + root * size, base + child * size, size);
        root = child;
    }
}

static void heap_sort(void *data, size_t count, size_t size, int (*compare)(const void *, const void *))
{
    char *base = data;
    for (size_t i = count / 2; i-- > 0;)
        sift(base, i, count, size, compare);
    for (size_t end = count; end-- > 1;) {
        swap_bytes(base, base + end * size, size);
        sift(base, 0, end, size, compare);
    }
}

struct asset {
    double yield;
    int id;
    float fee;
    double amount;
};

static int by_yield(const void *a, const void *b)
{
    const struct asset *p = a, *q = b;
    return (p->yield > q->yield) - (p->yield < q->yield);
}

// Interest on the lower half is taxed by rank.
static double portfolio(const double *yields, const double *amounts, int count)
{
    struct asset *assets = malloc(sizeof(struct asset) * (size_t)count);
    for (int i = 0; i < count; i++) {
        assets[i].yield = yields[i];
        assets[i].id = i;
        assets[i].fee = 0.25f / (float)(1 + i % 4);
        assets[i].amount = amounts[i];
    }
    heap_sort(assets, (size_t)count, sizeof(*assets), by_yield);
    double total = 0.0;
    for (int i = 0; i < count; i++) {
        double rank = (double)i / count;
        total += assets[i].amount * (exp(assets[i].yield) - assets[i].fee * rank) * (1.0 + 0.01 * (assets[i].id % 3));
    }
    free(assets);
    return total;
}

enum { COUNT = CORPUS_SIZE(40, 5), SIZE = 2 * COUNT };

static double point[SIZE];

static void setup(void)
{
    corpus_seed(120);
    for (int i = 0; i < COUNT; i++)
        point[i] = 0.02 * ((i * 23) % COUNT) + corpus_uniform(0.0, 0.01);
    corpus_fill(point + COUNT, COUNT, 0.5, 2.0);
}

static double value(const double *x)
{
    return portfolio(x, x + COUNT, COUNT);
}

static double tangent(const double *x, const double *v)
{
    return __enzyme_fwddiff((void *)portfolio, enzyme_dup, x, v, enzyme_dup, x + COUNT, v + COUNT, enzyme_const, COUNT);
}

static void gradient(const double *x, double *g)
{
    corpus_zero(g, SIZE);
    __enzyme_autodiff((void *)portfolio, enzyme_dup, x, g, enzyme_dup, x + COUNT, g + COUNT, enzyme_const, COUNT);
}

static const struct corpus_problem problem = {
    .name = "byte_swap",
    .size = SIZE,
    .point = point,
    .setup = setup,
    .value = value,
    .tangent = tangent,
    .gradient = gradient,
    .step = 0x1p-10, // less than half the gap between two yields
};

CORPUS_MAIN(&problem)
