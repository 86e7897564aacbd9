// error[E0203]: "taken for characters"
// The bytes of numbers, up to the first that is zero.
#include <string.h>

double __enzyme_autodiff(void *, ...);

static double copied(const double *x)
{
    double a[4], b[4];
    for (int i = 0; i < 4; i++)
        a[i] = x[i] * x[i];
    strncpy((char *)b, (char *)a, sizeof b); // refused here
    return b[0] * b[1] + b[2] * b[3];
}

double gradient(const double *x, double *dx) { return __enzyme_autodiff((void *)copied, x, dx); }
