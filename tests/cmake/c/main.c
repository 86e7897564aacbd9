// The derivative of a sine, by CMake.
#include <enzyme/markers.h>
#include <math.h>
#include <stdio.h>

extern double __enzyme_autodiff(void *, ...);

static double wave(double x) { return sin(2.0 * x); }

int main(void)
{
    printf("%.6f\n", __enzyme_autodiff((void *)wave, 0.5));
    return 0;
}
