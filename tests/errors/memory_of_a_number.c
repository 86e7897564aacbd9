// error[E0305]: "memory at an address that is a number"
// A region that is mapped at a place of its own: nobody makes a shadow of it.
double __enzyme_autodiff(void *, ...);

#define SHARED ((double *)0x10000000)

static double by_way_of_it(const double *x, int n)
{
    double sum = 0.0;
    for (int i = 0; i < n; i++)
        SHARED[i] = x[i] * x[i];
    for (int i = 0; i + 1 < n; i++)
        sum += SHARED[i] * SHARED[i + 1];
    return sum;
}

double gradient(const double *x, double *dx) { return __enzyme_autodiff((void *)by_way_of_it, x, dx, 4); }
