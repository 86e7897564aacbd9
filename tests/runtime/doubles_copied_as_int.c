// aborts[E0301]: doubles are copied as pairs of `int`, of which the compiler states that they are integers
// levels: O1 O2 O3
#include <stdlib.h>

extern double __enzyme_autodiff(void *, const double *, double *);

enum { COUNT = 4 };

__attribute__((noinline)) static void copy(int *to, const int *from, int count)
{
    for (int i = 0; i < count; i++)
        to[i] = from[i];
}

static double energy(const double *x)
{
    double *kept = malloc(COUNT * sizeof *kept), sum = 0.0;
    copy((int *)kept, (const int *)x, 2 * COUNT);
    for (int i = 0; i < COUNT; i++)
        sum += kept[i] * kept[i];
    free(kept);
    return sum;
}

int main(void)
{
    double x[COUNT] = {1.0, 2.0, 3.0, 4.0}, dx[COUNT] = {0.0};
    __enzyme_autodiff((void *)energy, x, dx);
    return dx[1] != 4.0;
}
