// error[E0203]: "memory that the caller of the derivative owns"
// The caller's address goes through a table of structures, which are copied, before it is reallocated.
#include <stdlib.h>
#include <string.h>

extern int enzyme_dup, enzyme_const;
extern double __enzyme_autodiff(void *, ...);

struct list {
    int count;
    double *values;
};

__attribute__((noinline)) static void push(struct list *list, double x)
{
    list->values = realloc(list->values, sizeof(double) * (unsigned long)(list->count + 1));
    list->values[list->count++] = x;
}

__attribute__((noinline)) static void take(struct list *to, const struct list *from)
{
    memcpy(to, from, sizeof *to);
}

static double grown(double *x, int n)
{
    struct list lists[2] = {{0, NULL}, {n, x}}, one;
    take(&one, &lists[n & 1]);
    push(&one, x[0] * x[0]);
    return one.values[one.count - 1];
}

double gradient(double *x, double *dx, int n)
{
    return __enzyme_autodiff((void *)grown, enzyme_dup, x, dx, enzyme_const, n);
}
