// error[E0102]: enzyme_dupe is no annotation
extern int enzyme_dupe;
extern double __enzyme_autodiff(void *, ...);

static double norm(const double *x)
{
    return x[0] * x[0] + x[1] * x[1];
}

double gradient(const double *x, double *dx)
{
    return __enzyme_autodiff((void *)norm, enzyme_dupe, x, dx); // refused here
}
