// error[E0105]: one bit of exponent is none
typedef double (*function)(double);
extern function __enzyme_truncate_op_func(void *, ...);

static double square(double x)
{
    return x * x;
}

double narrow(double x)
{
    return __enzyme_truncate_op_func((void *)square, 64, 1, 7)(x); // refused here
}
