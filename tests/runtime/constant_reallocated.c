// aborts[E0203]: what grows is memory of the function's own, or of the caller's constant memory, and only the run tells
#include <stdlib.h>

extern int enzyme_const, enzyme_dup;
extern double __enzyme_autodiff(void *, ...);

// Leaves the array that grew behind.
static double grown(const double *x, double *constant, int is_constant, double **left)
{
    double *own = (double *)malloc(2 * sizeof(double));
    own[0] = x[0] * x[0];
    own[1] = x[1];
    double *array = is_constant ? constant : own;
    array = (double *)realloc(array, 3 * sizeof(double));
    array[2] = array[0] * array[1];
    double sum = array[2] + 0.5 * array[0];
    if (is_constant)
        *left = array;
    else
        free(array);
    return sum;
}

int main(int argc, char **argv)
{
    (void)argv;
    double x[2] = {1.5, 2.0}, dx[2] = {0.0, 0.0}, *left = NULL;
    double *constant = (double *)calloc(2, sizeof(double));
    // Of its own all is well: d(x0^2 x1 + x0^2 / 2) = (2 x0 x1 + x0, x0^2).
    __enzyme_autodiff((void *)grown, enzyme_dup, x, dx, enzyme_const, constant, enzyme_const, argc - 1, enzyme_const,
                      &left);
    if (dx[0] != 2.0 * 1.5 * 2.0 + 1.5 || dx[1] != 1.5 * 1.5)
        return 1;
    __enzyme_autodiff((void *)grown, enzyme_dup, x, dx, enzyme_const, constant, enzyme_const, argc, enzyme_const,
                      &left);
    return 2;
}
