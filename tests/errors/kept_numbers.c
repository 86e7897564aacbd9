// error[E0203]: no derivative for numbers that memory keeps in a wider format
typedef double (*function)(double);
extern function __enzyme_truncate_mem_func(void *, ...);
extern double __enzyme_autodiff(void *, ...);

static double square(double x)
{
    return x * x; // refused here
}

double gradient(double x)
{
    return __enzyme_autodiff((void *)__enzyme_truncate_mem_func((void *)square, 64, 15, 112), x);
}
