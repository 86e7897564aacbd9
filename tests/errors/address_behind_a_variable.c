// error[E0203]: the address may be that of active memory, and was read from a variable of another file
extern double *__enzyme_autodiff(void *, ...);
extern int enzyme_const;

extern double *other;

static double through_either(double *x, int n)
{
    double *both[2] = {other, x};
    double sum = 0.0;
    for (int i = 0; i < n; i++)
        sum += both[i & 1][i] * both[i & 1][i];
    return sum;
}

void gradient(double *x, double *dx, int n)
{
    __enzyme_autodiff((void *)through_either, x, dx, enzyme_const, n);
}
