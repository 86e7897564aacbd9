// error[E0105]: the memory granted is smaller than what __enzyme_augmentsize says
extern int enzyme_tape, enzyme_allocated;
extern double __enzyme_augmentfwd(void *, ...);

static double square(const double *x)
{
    return x[0] * x[0];
}

double value(const double *x, double *dx, void *memory)
{
    return __enzyme_augmentfwd((void *)square, enzyme_allocated, 8, enzyme_tape, memory, x, dx); // refused here
}
