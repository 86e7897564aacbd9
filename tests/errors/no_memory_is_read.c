// error[E0112]: there is no memory (enzyme_dupnoneed with a constant), but what it holds is read
extern void __enzyme_fwddiff_void(void *, ...);
extern int enzyme_dup, enzyme_dupnoneed;

static void square(const double *x, double *y)
{
    y[0] = x[0] * y[1];
}

void tangent(double *x, double *v, double *t)
{
    __enzyme_fwddiff_void((void *)square, enzyme_dup, x, v, enzyme_dupnoneed, (double *)0, t); // here
}
