// error[E0205]: the bits of an active float, taken and made a float again by functions that are not inlined
#include <string.h>

extern double __enzyme_autodiff(void *, double);

__attribute__((noinline)) static long bits_of(double x)
{
    long bits;
    memcpy(&bits, &x, sizeof(bits));
    return bits;
}

__attribute__((noinline)) static double float_of(long bits)
{
    double x;
    memcpy(&x, &bits, sizeof(x));
    return x;
}

static double scrambled(double x)
{
    long bits = bits_of(x);
    return float_of(bits * 3 ^ bits);
}

double gradient(double x)
{
    return __enzyme_autodiff((void *)scrambled, x);
}
