// error[E0203]: no derivative for an address in one object that is computed from that of another
#include <stdint.h>
#include <stdlib.h>

extern void __enzyme_autodiff(void *, ...);
extern int enzyme_const;

// As far from each number as one array is from the other.
static double copied(const double *x, int n)
{
    double *one = malloc(sizeof *one * (size_t)n), *other = malloc(sizeof *other * (size_t)n), sum = 0.0;
    uintptr_t apart = (uintptr_t)other - (uintptr_t)one;
    for (int i = 0; i < n; i++)
        one[i] = x[i] * x[i];
    for (int i = 0; i < n; i++)
        *(double *)((uintptr_t)(one + i) + apart) = 2.0 * one[i]; // refused here
    for (int i = 0; i < n; i++)
        sum += other[i] * one[i];
    free(one);
    free(other);
    return sum;
}

void gradient(const double *x, double *dx, int n)
{
    __enzyme_autodiff((void *)copied, x, dx, enzyme_const, n);
}
