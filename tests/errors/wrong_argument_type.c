// error[E0105]: the function takes a double, the marker is given an integer
extern double __enzyme_autodiff(void *, ...);

static double square(double x)
{
    return x * x;
}

double gradient(int x)
{
    return __enzyme_autodiff((void *)square, x); // refused here
}
