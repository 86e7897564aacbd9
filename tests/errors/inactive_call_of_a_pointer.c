// error[E0108]: which function is called inactively has to be known
extern double __enzyme_autodiff(void *, ...);
extern double __enzyme_call_inactive(void *, ...);

static double apply(double x, double (*f)(double))
{
    return x * __enzyme_call_inactive((void *)f, x); // refused here
}

double gradient(double x, double (*f)(double))
{
    extern int enzyme_const;
    return __enzyme_autodiff((void *)apply, x, enzyme_const, f);
}
