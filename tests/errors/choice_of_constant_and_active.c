// error[E????]: one pointer is to active memory or to constant memory, and only the run will tell
extern int enzyme_const, enzyme_dup, enzyme_out;
extern double __enzyme_autodiff(void *, ...);

static double written(double *a, double *b, double x, int choice)
{
    double *chosen = choice ? a : b;
    *chosen = x * x;
    return a[0] * b[0];
}

double gradient(double *a, double *da, double *b, double x, int choice)
{
    return __enzyme_autodiff((void *)written, enzyme_dup, a, da, enzyme_const, b, enzyme_out, x, enzyme_const, choice);
}
