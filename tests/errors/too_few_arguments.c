// error[E0101]: the shadow of the last pointer is missing
extern int enzyme_dup;
extern double __enzyme_autodiff(void *, ...);

static double norm(const double *x)
{
    return x[0] * x[0] + x[1] * x[1];
}

double gradient(const double *x)
{
    return __enzyme_autodiff((void *)norm, enzyme_dup, x); // refused here
}
