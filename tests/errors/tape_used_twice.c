// error[E0109]: the reverse sweep consumes the tape
extern int enzyme_nofree;
extern void __enzyme_reverse(void *, ...);

static double square(const double *x)
{
    return x[0] * x[0];
}

void gradient(const double *x, double *dx, void *tape)
{
    __enzyme_reverse((void *)square, enzyme_nofree, x, dx, 1.0, tape); // refused here
}
