// error[E0111]: can't be bounded by the derivative that the program gives for it
extern double __enzyme_error_estimate(void *, ...);

__attribute__((noinline)) static double cube(double x) // refused here
{
    return x * x * x;
}

static double tangent_of_cube(double x, double dx)
{
    return 3.0 * x * x * dx;
}

void *__enzyme_register_derivative_cube[] = {(void *)cube, (void *)tangent_of_cube};

static double shifted(double x)
{
    return cube(x) + x;
}

double bound(double x)
{
    return __enzyme_error_estimate((void *)shifted, x, 1e-9);
}
