// error[E0302]: active data passes through memory that was declared constant
extern int enzyme_const, enzyme_out;
extern double __enzyme_autodiff(void *, ...);

static double through_buffer(double *buffer, double x, int n)
{
    double sum = 0.0;
    for (int i = 0; i < n; i++)
        buffer[i] = x * i;
    for (int i = 0; i < n; i++)
        sum += buffer[i] * buffer[i];
    return sum;
}

double gradient(double *buffer, double x, int n)
{
    return __enzyme_autodiff((void *)through_buffer, enzyme_const, buffer, enzyme_out, x, enzyme_const, n);
}
