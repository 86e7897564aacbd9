// Prints the energy, its gradient, and its slope along a direction.
#include <stdio.h>

double energy_gradient(const double *x, double *dx, double scale, int n);
double energy_slope(const double *x, const double *dx, double scale, double dscale, int n);

int main(void)
{
    double x[2] = {1.0, 2.0}, dx[2] = {0.0, 0.0}, along[2] = {1.0, 0.0};
    double value = energy_gradient(x, dx, 2.0, 2);
    printf("%g %g %g %g\n", value, dx[0], dx[1], energy_slope(x, along, 2.0, 1.0, 2));
    return 0;
}
