// The smallest program: d/dx x^2 = 2x. Its output is exact at every optimisation level.
// corpus: stdout square'(3.140000) = 6.280000
#include <stdio.h>

extern double __enzyme_autodiff(void *, double);

double square(double x)
{
    return x * x;
}

double derivative_of_square(double x)
{
    return __enzyme_autodiff((void *)square, x);
}

int main(void)
{
    double x = 3.14;
    printf("square'(%f) = %f\n", x, derivative_of_square(x));
    return 0;
}
