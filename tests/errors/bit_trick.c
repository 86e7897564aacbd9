// error[E0205]: cut to seven binary digits, an active float may stand for itself or for a place in a table
#include <string.h>

extern double __enzyme_autodiff(void *, double);

static double remainder_of_digits(double x)
{
    unsigned long bits;
    memcpy(&bits, &x, sizeof(bits));
    bits &= 0xffffe00000000000; // refused here
    double center;
    memcpy(&center, &bits, sizeof(center));
    return x * center;
}

double gradient(double x)
{
    return __enzyme_autodiff((void *)remainder_of_digits, x);
}
