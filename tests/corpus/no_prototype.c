// A routine called without its prototype, as C calls Fortran: numbers of elements of another width, and lengths of texts that
// nobody passes or that are passed as `int`. d/dx sum_i (i + 1) x sin(x) = 6 (sin x + x cos x), and twice that when it is scaled.
// corpus: stdout 8.056655 16.113311
#include <math.h>
#include <stdio.h>

extern double __enzyme_autodiff(void *, double);

void weighted();

static double plain(double x)
{
    double values[3] = {sin(x), sin(x), sin(x)}, sum;
    weighted("N", 3, values, &x, &sum);
    return sum;
}

static double scaled(double x)
{
    double values[3] = {sin(x), sin(x), sin(x)}, sum;
    weighted("S", 3, values, &x, &sum, 1);
    return sum;
}

int main(void)
{
    printf("%f %f\n", __enzyme_autodiff((void *)plain, 0.9), __enzyme_autodiff((void *)scaled, 0.9));
    return 0;
}

// Not inlined where it is called, so that the calls are what they are.
__attribute__((noinline)) void weighted(const char *how, long n, const double *values, const double *x, double *sum, long length)
{
    *sum = 0.0;
    for (long i = 0; i < n; i++)
        *sum += (double)(i + 1) * values[i] * *x;
    if (*how == 'S')
        *sum *= 2.0;
}
