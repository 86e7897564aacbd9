// error[E0103]: "which other files may call: it is not static"
extern double __enzyme_autodiff(void *, ...);

double gradient(double (*function)(double), double x)
{
    return __enzyme_autodiff((void *)function, x); // refused here
}
