// aborts[E0304]: the number that a global variable has for an address, from before the derivative, is that of no shadow
#include <stdint.h>
#include <stdlib.h>

extern double __enzyme_autodiff(void *, ...);

static volatile uintptr_t buffer;

static double squares(const double *x, int n)
{
    double *b = (double *)buffer;
    for (int i = 0; i < n; i++)
        b[i] = x[i] * x[i];
    double sum = 0.0;
    for (int i = 0; i < n; i++)
        sum += b[i] * (i + 1);
    return sum;
}

int main(void)
{
    double x[3] = {1.0, 2.0, 3.0}, dx[3] = {0.0};
    buffer = (uintptr_t)calloc(3, sizeof(double));
    if (squares(x, 3) != 36.0)
        return 1;
    __enzyme_autodiff((void *)squares, x, dx, 3);
    return 2;
}
