// error[E0113]: the adjoints of what the function allocates lie on the tape, where tangents have no place
#include <math.h>
#include <stdlib.h>
extern int enzyme_dup, enzyme_const, enzyme_tape;
extern void __enzyme_fwdsplit(void *, ...);

static void through_heap(double *y, double *x, int n)
{
    double *made = malloc(sizeof(double) * (size_t)n);
    for (int i = 0; i < n; i++)
        made[i] = sin(x[i]);
    for (int i = 0; i < n; i++)
        y[i] = made[i] * made[n - 1 - i];
    free(made);
}

void tangents(double *y, double *dy, double *x, double *dx, int n, void *tape)
{
    __enzyme_fwdsplit((void *)through_heap, enzyme_tape, tape, enzyme_dup, y, dy, enzyme_dup, x, dx, enzyme_const, n); // refused here
}
