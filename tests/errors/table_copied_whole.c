// error[E0305]: "is read back"
// A table that other files see is filled with active data, copied as a whole, and sorted.
#include <stdlib.h>
#include <string.h>

double __enzyme_autodiff(void *, ...);

struct record {
    double key, value;
    int id;
};
struct record table[4];

static int by_key(const void *a, const void *b)
{
    const struct record *p = a, *q = b;
    return (p->key > q->key) - (p->key < q->key);
}

__attribute__((noinline)) static void sorted(struct record *to)
{
    memcpy(to, table, sizeof table);
    qsort(to, 4, sizeof *to, by_key);
}

static double weighted(const double *x)
{
    struct record r[4];
    for (int i = 0; i < 4; i++)
        table[i] = (struct record){(i * 3) % 4, x[i] * x[i], i};
    sorted(r);
    double sum = 0.0;
    for (int i = 0; i < 4; i++)
        sum += r[i].value * (i + 1);
    return sum;
}

double gradient(const double *x, double *dx) { return __enzyme_autodiff((void *)weighted, x, dx); }
