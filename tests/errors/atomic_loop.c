// error[E0203]: a product by compare and exchange
#include <stdatomic.h>

extern double __enzyme_autodiff(void *, double);

static double twice(double x)
{
    _Atomic double total = x;
    total *= x * x; // refused here
    return total;
}

double gradient(double x)
{
    return __enzyme_autodiff((void *)twice, x);
}
