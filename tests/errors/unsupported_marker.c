// error[E0108]: probabilistic programming is not there
extern double __enzyme_likelihood(void *, ...);

static double square(double x)
{
    return x * x;
}

double density(double x)
{
    return __enzyme_likelihood((void *)square, x); // refused here
}
