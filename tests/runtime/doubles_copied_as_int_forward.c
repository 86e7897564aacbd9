// aborts[E0301]: the same in forward mode, and as one `long` for each double
// levels: O1 O2 O3
#include <stdlib.h>

extern double __enzyme_fwddiff(void *, const double *, const double *);

enum { COUNT = 4 };

__attribute__((noinline)) static void copy(long *to, const long *from, int count)
{
    for (int i = 0; i < count; i++)
        to[i] = from[i];
}

static double energy(const double *x)
{
    double *kept = malloc(COUNT * sizeof *kept), sum = 0.0;
    copy((long *)kept, (const long *)x, COUNT);
    for (int i = 0; i < COUNT; i++)
        sum += kept[i] * kept[i];
    free(kept);
    return sum;
}

int main(void)
{
    double x[COUNT] = {1.0, 2.0, 3.0, 4.0}, v[COUNT] = {0.0, 1.0};
    return __enzyme_fwddiff((void *)energy, x, v) != 4.0;
}
