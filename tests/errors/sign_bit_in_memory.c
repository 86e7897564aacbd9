// error[E0205]: the sign of an active float is turned by a bit operation on one of its bytes, in memory
#include <stdlib.h>

extern void __enzyme_autodiff(void *, double *, double *, int);

union number {
    double value;
    unsigned char bytes[8];
};

static double mirrored(const double *x, int n)
{
    union number *numbers = malloc((size_t)n * sizeof(union number));
    double sum = 0.0;
    for (int i = 0; i < n; i++)
        numbers[i].value = x[i] * x[i];
    for (int i = 0; i < n; i += 2)
        numbers[i].bytes[7] ^= 0x80; // refused here
    for (int i = 0; i < n; i++)
        sum += numbers[i].value;
    free(numbers);
    return sum;
}

void gradient(double *x, double *dx, int n)
{
    __enzyme_autodiff((void *)mirrored, x, dx, n);
}
