// error[E0205]: floats pass through a vector of integers
typedef double doubles __attribute__((vector_size(16)));
typedef long long integers __attribute__((vector_size(16)));

extern double __enzyme_autodiff(void *, const double *, double *);

static double mixed(const double *x)
{
    integers a, mask = {-1, 7};
    __builtin_memcpy(&a, x, sizeof(a));
    doubles b = (doubles)(a & mask | 1); // the second lane is cut to pieces
    return b[0] * b[1];
}

double gradient(const double *x, double *dx)
{
    return __enzyme_autodiff((void *)mixed, x, dx);
}
