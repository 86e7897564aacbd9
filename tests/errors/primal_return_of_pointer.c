// error[E0109]: the memory that a pointer leads to may be freed at the end of a reverse derivative
extern int enzyme_primal_return;
extern double *__enzyme_autodiff(void *, ...);

static double *doubled(double *x)
{
    x[0] *= 2.0;
    return x;
}

double *gradient(double *x, double *dx)
{
    return __enzyme_autodiff((void *)doubled, enzyme_primal_return, x, dx); // refused here
}
