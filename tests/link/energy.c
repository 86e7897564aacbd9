// The gradient of a sum of squares of a copy, which the other file makes; exact in binary fractions.
#include "store.h"

#include <stdio.h>
#include <stdlib.h>

extern void __enzyme_autodiff(void *, ...);
extern int enzyme_dup, enzyme_const;

static double energy(const double *x, int n)
{
    double *copy = store_copy(x, n), sum = 0.0;
    for (int i = 0; i < n; i++)
        sum += copy[i] * copy[i] * (i + 1);
    free(copy);
    return sum;
}

int main(void)
{
    double x[3] = {0.5, -1.25, 3.0}, gradient[3] = {0.0, 0.0, 0.0};
    __enzyme_autodiff((void *)energy, enzyme_dup, x, gradient, enzyme_const, 3);
    printf("%g %g %g\n", gradient[0], gradient[1], gradient[2]);
    return 0;
}
