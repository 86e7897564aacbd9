// error[E0103]: which function is to be differentiated is not known at compile time
extern double __enzyme_autodiff(void *, ...);

double gradient(double (*function)(double), double x)
{
    return __enzyme_autodiff((void *)function, x); // refused here
}
