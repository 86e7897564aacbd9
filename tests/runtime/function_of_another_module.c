// aborts[E0202]: a pointer leads to a function of another module; where it leads to one of this module, all is well
#define _GNU_SOURCE
#include <dlfcn.h>

extern int enzyme_const, enzyme_out;
extern double __enzyme_autodiff(void *, ...);

static double power(double x, int n)
{
    double result = 1.0;
    for (int i = 0; i < n; i++)
        result *= x;
    return result;
}

static double apply(double (*function)(double, int), double x, int active)
{
    // Nothing active enters the first call, so it may lead anywhere.
    return function(2.0, 1) * (active ? function(x, 3) : x);
}

static double gradient(double (*function)(double, int), double x, int active)
{
    return __enzyme_autodiff((void *)apply, enzyme_const, function, enzyme_out, x, enzyme_const, active);
}

int main(void)
{
    double (*other)(double, int) = (double (*)(double, int))dlsym(RTLD_DEFAULT, "ldexp");
    if (!other)
        return 1;
    if (gradient(power, 1.5, 1) != 2.0 * 3.0 * 1.5 * 1.5)
        return 2;
    if (gradient(other, 1.5, 0) != 4.0)
        return 3;
    gradient(other, 1.5, 1);
    return 4;
}
