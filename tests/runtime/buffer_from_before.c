// aborts[E0304]: a buffer that a global variable has from a call which was not differentiated has no shadow
#include <stdlib.h>

extern double __enzyme_autodiff(void *, ...);

static double *buffer;

static double squares(const double *x, int n)
{
    if (!buffer)
        buffer = malloc((unsigned long)n * sizeof(*buffer));
    for (int i = 0; i < n; i++)
        buffer[i] = x[i] * x[i];
    double sum = 0.0;
    for (int i = 0; i < n; i++)
        sum += buffer[i] * (i + 1);
    return sum;
}

int main(void)
{
    double x[3] = {1.0, 2.0, 3.0}, dx[3] = {0.0};
    if (squares(x, 3) != 36.0)
        return 1;
    __enzyme_autodiff((void *)squares, x, dx, 3);
    return 2;
}
