// error[E0109]: a scalar has no shadow to accumulate in: enzyme_dup of a double is for forward mode
extern int enzyme_dup;
extern double __enzyme_autodiff(void *, ...);

static double square(double x)
{
    return x * x;
}

double gradient(double x, double dx)
{
    return __enzyme_autodiff((void *)square, enzyme_dup, x, dx); // refused here
}
