// error[E0305]: active data passes through a global variable that has no shadow
extern double __enzyme_autodiff(void *, ...);
extern int enzyme_out, enzyme_const;

double state[4];

static double through_global(double x, int i, int j)
{
    state[i] = x * x;
    return state[j] * x;
}

double gradient(double x, int i, int j)
{
    return __enzyme_autodiff((void *)through_global, enzyme_out, x, enzyme_const, i, enzyme_const, j);
}
