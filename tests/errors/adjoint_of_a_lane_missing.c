// error[E0101]: each lane has an adjoint of the result of its own
extern int enzyme_width;
extern void __enzyme_reverse(void *, ...);

static double square(const double *x)
{
    return x[0] * x[0];
}

void gradient(const double *x, double *dx, double *other, void *tape)
{
    __enzyme_reverse((void *)square, enzyme_width, 2, x, dx, other, 1.0, tape); // refused here
}
