// error[E0203]: an atomic pointer to active memory is exchanged
#include <stdatomic.h>

extern double __enzyme_autodiff(void *, double);

static double swapped(double x)
{
    double first = x, second = 2.0 * x;
    double *_Atomic current = &first;
    double *old = atomic_exchange(&current, &second); // refused here
    *old *= x;
    return *atomic_load(&current) + first;
}

double gradient(double x)
{
    return __enzyme_autodiff((void *)swapped, x);
}
