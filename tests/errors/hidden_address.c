// error[E0203]: no derivative for an address of active memory computed as an integer
#include <stdint.h>
#include <stdlib.h>

extern void __enzyme_autodiff(void *, ...);
extern int enzyme_const;

static volatile uintptr_t key;

// What is stored by way of the second address is read by way of the first, and nobody can see that.
static double through_both(const double *x, int n)
{
    double *numbers = malloc(sizeof *numbers * (size_t)n), sum = 0.0;
    uintptr_t hidden = (uintptr_t)numbers ^ key;
    double *same = (double *)(hidden ^ key); // refused here
    for (int i = 0; i < n; i++)
        same[i] = x[i] * x[i];
    for (int i = 0; i < n; i++)
        sum += numbers[i] * x[i];
    free(numbers);
    return sum;
}

void gradient(const double *x, double *dx, int n)
{
    __enzyme_autodiff((void *)through_both, x, dx, enzyme_const, n);
}
