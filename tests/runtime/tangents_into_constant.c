// aborts[E0302]: floats that have a derivative are copied into memory which was declared constant at run time; constant ones may be
// after: what may be copied was copied
#include <stdio.h>
#include <string.h>

extern int enzyme_runtime_activity, enzyme_dup;
extern double __enzyme_fwddiff(void *, ...);

struct pair {
    double *to, *from;
    long n;
};

static double norm(struct pair *p)
{
    memcpy(p->to, p->from, (size_t)p->n * sizeof(double));
    double sum = 0.0;
    for (long i = 0; i < p->n; i++)
        sum += p->to[i] * p->to[i];
    return sum;
}

static double derivative(struct pair at, double *to, double *from)
{
    struct pair shadow = {to, from, at.n};
    return __enzyme_fwddiff((void *)norm, enzyme_runtime_activity, enzyme_dup, &at, &shadow);
}

int main(void)
{
    volatile long n = 2;
    double x[2] = {1.5, 2.0}, dx[2] = {1.0, 0.0}, y[2], dy[2] = {0.0, 0.0};
    struct pair at = {y, x, n};
    // Of constants into constant memory, and into memory with a shadow; then what must not be.
    if (derivative(at, y, x) != 0.0 || derivative(at, dy, x) != 0.0 || derivative(at, dy, dx) == 0.0)
        return 1;
    fputs("what may be copied was copied\n", stderr);
    return derivative(at, y, dx) != 0.0;
}
