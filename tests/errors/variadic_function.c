// error[E0203]: a variadic function reads its arguments through va_arg
#include <stdarg.h>

extern double __enzyme_autodiff(void *, ...);

static double sum(int count, ...)
{
    double total = 0.0;
    va_list arguments;
    va_start(arguments, count);
    for (int i = 0; i < count; i++) {
        double x = va_arg(arguments, double);
        total += x * x;
    }
    va_end(arguments);
    return total;
}

double gradient(double x)
{
    return __enzyme_autodiff((void *)sum, 1, x);
}
