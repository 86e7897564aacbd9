// error[E0203]: no derivative for memory of this kind where a tape is used again (enzyme_nofree)
#include <stdlib.h>

extern int enzyme_nofree;
extern void __enzyme_reverse(void *, ...);

static double squares(const double *x, int n)
{
    double *all = NULL, sum = 0.0;
    for (int i = 0; i < n; i++) {
        all = realloc(all, sizeof(double) * (unsigned)(i + 1)); // here
        all[i] = x[i] * x[i];
    }
    for (int i = 0; i < n; i++)
        sum += all[i] * all[i];
    free(all);
    return sum;
}

void gradient(const double *x, double *dx, void *tape)
{
    __enzyme_reverse((void *)squares, enzyme_nofree, x, dx, 3, 1.0, tape);
}
