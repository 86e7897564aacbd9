// aborts[E0301]: the bytes of doubles are masked, each by itself, as C allows it
#include <stdlib.h>

extern double __enzyme_autodiff(void *, const double *, double *);

enum { COUNT = 4 };

__attribute__((noinline)) static void mask(unsigned char *to, const unsigned char *from, unsigned long bytes)
{
    for (unsigned long i = 0; i < bytes; i++)
        to[i] = from[i] ^ 0x5a;
}

static double energy(const double *x)
{
    double *masked = malloc(COUNT * sizeof *x), *kept = malloc(COUNT * sizeof *x), sum = 0.0;
    mask((unsigned char *)masked, (const unsigned char *)x, COUNT * sizeof *x);
    mask((unsigned char *)kept, (const unsigned char *)masked, COUNT * sizeof *x);
    for (int i = 0; i < COUNT; i++)
        sum += kept[i] * kept[i];
    free(kept);
    free(masked);
    return sum;
}

int main(void)
{
    double x[COUNT] = {1.0, 2.0, 3.0, 4.0}, dx[COUNT] = {0.0};
    __enzyme_autodiff((void *)energy, x, dx);
    return dx[1] != 4.0;
}
