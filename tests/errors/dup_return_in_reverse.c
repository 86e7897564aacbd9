// error[E0109]: a reverse derivative has no tangent of the result
extern int enzyme_dup_return;
extern double __enzyme_autodiff(void *, ...);

static double square(double x)
{
    return x * x;
}

double gradient(double x)
{
    return __enzyme_autodiff((void *)square, enzyme_dup_return, x); // refused here
}
