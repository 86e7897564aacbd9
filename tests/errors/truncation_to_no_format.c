// error[E0105]: no type has three bits of exponent and seven digits
typedef double (*function)(double);
extern function __enzyme_truncate_op_func(void *, ...);

static double square(double x)
{
    return x * x;
}

double narrow(double x)
{
    return __enzyme_truncate_op_func((void *)square, 64, 3, 7)(x); // refused here
}
