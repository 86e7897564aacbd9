// error[E0105]: can't change the format: the bits of a number are taken as another type in 'enzyme.widened.sign'
typedef long (*function)(double);
extern function __enzyme_truncate_mem_func(void *, ...);

static long sign(double x)
{
    union {
        double number;
        long bits;
    } both = {x * 3.0};
    return both.bits < 0;
}

long wide(double x)
{
    return __enzyme_truncate_mem_func((void *)sign, 64, 15, 112)(x); // refused here
}
