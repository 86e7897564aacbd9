// aborts[E0302]: one pointer is to active memory or to constant memory, and only the run tells: it stores to the latter
extern int enzyme_const, enzyme_dup, enzyme_out;
extern double __enzyme_autodiff(void *, ...);

static double written(double *a, double *b, double x, int choice)
{
    double *chosen = choice ? a : b;
    *chosen = x * x;
    return a[0] * b[0];
}

int main(int argc, char **argv)
{
    (void)argv;
    double a = 2.0, b = 3.0, shadow = 0.0;
    // With an active target all is well: d(x^2 b)/dx = 2 x b.
    double gradient = __enzyme_autodiff((void *)written, enzyme_dup, &a, &shadow, enzyme_const, &b, enzyme_out, 1.5,
                                        enzyme_const, argc);
    if (gradient != 2.0 * 1.5 * 3.0 || shadow != 0.0)
        return 1;
    __enzyme_autodiff((void *)written, enzyme_dup, &a, &shadow, enzyme_const, &b, enzyme_out, 1.5, enzyme_const,
                      argc - 1);
    return 2;
}
