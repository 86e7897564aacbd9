// error[E0305]: active data passes through a global variable that has no shadow
extern double __enzyme_autodiff(void *, ...);

double state;

__attribute__((noinline)) static void keep(double x)
{
    state += x * x;
}

static double through_global(double x)
{
    state = x;
    keep(x);
    return state * x;
}

double gradient(double x)
{
    return __enzyme_autodiff((void *)through_global, x);
}
