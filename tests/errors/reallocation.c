// error[E0203]: active memory is reallocated
#include <stdlib.h>

extern int enzyme_out, enzyme_const;
extern double __enzyme_autodiff(void *, ...);

static double grown(double x, int n)
{
    double *values = malloc(sizeof(double));
    values[0] = x;
    for (int i = 1; i < n; i++) {
        values = realloc(values, sizeof(double) * (unsigned long)(i + 1)); // refused here
        values[i] = values[i - 1] * x;
    }
    double last = values[n - 1];
    free(values);
    return last;
}

double gradient(double x, int n)
{
    return __enzyme_autodiff((void *)grown, enzyme_out, x, enzyme_const, n);
}
