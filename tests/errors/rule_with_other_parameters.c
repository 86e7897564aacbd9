// error[E0111]: the reverse rule takes no shadow for the pointer
extern double __enzyme_autodiff(void *, ...);

__attribute__((noinline)) static double first(const double *x) // refused here
{
    return x[0];
}

static double augmented(const double *x, double *dx)
{
    (void)dx;
    return x[0];
}

static void reverse(const double *x, double seed)
{
    (void)x, (void)seed;
}

void *__enzyme_register_gradient_first[] = {(void *)first, (void *)augmented, (void *)reverse};

static double twice(const double *x)
{
    return 2.0 * first(x);
}

void gradient(const double *x, double *dx)
{
    __enzyme_autodiff((void *)twice, x, dx);
}
