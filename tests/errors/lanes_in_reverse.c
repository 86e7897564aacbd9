// error[E0109]: a reverse derivative has one lane
extern int enzyme_width;
extern double __enzyme_autodiff(void *, ...);

static double square(const double *x)
{
    return x[0] * x[0];
}

void gradient(const double *x, double *dx, double *other)
{
    __enzyme_autodiff((void *)square, enzyme_width, 2, x, dx, other); // refused here
}
