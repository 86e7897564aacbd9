// error[E0105]: can't change the format: a call through a pointer passes a number
typedef double (*function)(double (*)(double), double);
extern function __enzyme_truncate_mem_func(void *, ...);

static double apply(double (*f)(double), double x)
{
    return f(x * 3.0);
}

double wide(double (*f)(double), double x)
{
    return __enzyme_truncate_mem_func((void *)apply, 64, 15, 112)(f, x); // refused here
}
