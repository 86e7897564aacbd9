// error[E0104]: one good request does not hide a wrong one
extern double __enzyme_autodiff(void *, ...);
extern double elsewhere(double x);

static double square(double x)
{
    return x * x;
}

double good(double x)
{
    return __enzyme_autodiff((void *)square, x);
}

double wrong(double x)
{
    return __enzyme_autodiff((void *)elsewhere, x); // refused here
}
