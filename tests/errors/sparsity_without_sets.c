// error[E0108]: '__enzyme_sparsity' needs 'enzyme_sparsity_union'
extern void __enzyme_sparsity(void *, ...);
extern int enzyme_dup;

static void square(const double *x, double *y)
{
    y[0] = x[0] * x[1];
}

void pattern(double *x, double *names, double *y, double *results)
{
    __enzyme_sparsity((void *)square, enzyme_dup, x, names, enzyme_dup, y, results); // here
}
