// aborts[E0301]: the bits of a float were converted as an integer
// The bits of an array of floats, copied as integers, each of which becomes a number: an approximate logarithm. Nobody
// says here that they are floats.
#include <stdint.h>
#include <stdio.h>
#include <string.h>

extern int enzyme_dup;
extern void __enzyme_autodiff(void *, ...);

enum { N = 4 };

static double logarithms(const double *x)
{
    int64_t bits[N];
    double sum = 0.0;
    memcpy(bits, x, sizeof bits);
    for (int i = 0; i < N; i++)
        sum += (double)(bits[i] - 0x3ff0000000000000) * 0x1p-52;
    return sum;
}

int main(void)
{
    double x[N] = {1.3, 2.7, 1.1, 5.5}, g[N] = {0.0};
    __enzyme_autodiff((void *)logarithms, enzyme_dup, x, g);
    printf("%g\n", g[0]);
}
