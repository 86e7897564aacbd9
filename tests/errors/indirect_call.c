// error[E0202]: an active value is given to a function that is not known at compile time
extern int enzyme_const, enzyme_out;
extern double __enzyme_autodiff(void *, ...);

static double apply(double (*function)(double), double x)
{
    return x * function(x); // refused here
}

double gradient(double (*function)(double), double x)
{
    return __enzyme_autodiff((void *)apply, enzyme_const, function, enzyme_out, x);
}
