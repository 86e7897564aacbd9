// aborts[E0301]: doubles take each other's place by way of `^` of their bits, to which one optimisation sees no more
// levels: O0 O1
#include <stdint.h>

extern double __enzyme_autodiff(void *, const double *, double *);

enum { COUNT = 6 };

static void exchange(double *a, double *b)
{
    uint64_t *p = (uint64_t *)a, *q = (uint64_t *)b;
    if (p == q)
        return;
    *p ^= *q;
    *q ^= *p;
    *p ^= *q;
}

static double weighted(const double *x)
{
    double turned[COUNT], sum = 0.0;
    for (int i = 0; i < COUNT; i++)
        turned[i] = x[i] * x[i];
    for (int i = 0; i < COUNT / 2; i++)
        exchange(&turned[i], &turned[COUNT - 1 - i]);
    for (int i = 0; i < COUNT; i++)
        sum += (i + 1) * turned[i];
    return sum;
}

int main(void)
{
    double x[COUNT] = {1.0, 2.0, 3.0, 4.0, 5.0, 6.0}, dx[COUNT] = {0.0};
    __enzyme_autodiff((void *)weighted, x, dx);
    return dx[0] != 12.0;
}
