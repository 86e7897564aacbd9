// error[E0201]: nothing is known of what a derivative would have of numbers that are kept
typedef double (*function)(double);
extern function __enzyme_truncate_mem_func(void *, ...);
extern double __enzyme_autodiff(void *, ...);

static double square(double x)
{
    return x * x;
}

double gradient(double x)
{
    return __enzyme_autodiff((void *)__enzyme_truncate_mem_func((void *)square, 64, 15, 112), x); // refused here
}
