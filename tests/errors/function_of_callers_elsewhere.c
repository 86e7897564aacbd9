// error[E0103]: a function whose address is handed on has callers that are not known
extern double __enzyme_autodiff(void *, ...);
extern void register_solver(double (*)(double (*)(double), double));

static double square(double x)
{
    return x * x;
}

static double slope(double (*function)(double), double x)
{
    return __enzyme_autodiff((void *)function, x); // refused here
}

double at_three(void)
{
    register_solver(slope);
    return slope(square, 3.0);
}
