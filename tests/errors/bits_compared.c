// error[E0205]: the largest magnitude by comparing bits without their sign, in a loop
#include <string.h>

extern double __enzyme_autodiff(void *, const double *, double *);

static double largest(const double *x)
{
    unsigned long most = 0;
    for (int i = 0; i < 100; i++) {
        unsigned long bits;
        memcpy(&bits, &x[i], sizeof(bits)), bits <<= 1; // refused here
        most = bits > most ? bits : most;
    }
    most >>= 1;
    double found;
    memcpy(&found, &most, sizeof(found));
    return found;
}

double gradient(const double *x, double *shadow)
{
    return __enzyme_autodiff((void *)largest, x, shadow);
}
