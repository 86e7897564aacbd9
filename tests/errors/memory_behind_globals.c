// error[E0302]: active data is stored in memory
extern int enzyme_const;
extern double __enzyme_autodiff(void *, ...);

double *workspace;

static double through_workspace(double *x, int n)
{
    double sum = 0.0;
    for (int i = 0; i < n; i++)
        workspace[i] = workspace[i] * x[i];
    for (int i = 0; i < n; i++)
        sum += workspace[i];
    return sum * sum;
}

void gradient(double *x, double *dx, int n)
{
    __enzyme_autodiff((void *)through_workspace, x, dx, enzyme_const, n);
}
