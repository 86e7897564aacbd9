// error[E0103]: "whose address is handed on"
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
