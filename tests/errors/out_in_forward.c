// error[E0109]: forward mode returns tangents, not adjoints of arguments
extern int enzyme_out;
extern double __enzyme_fwddiff(void *, ...);

static double square(double x)
{
    return x * x;
}

double tangent(double x)
{
    return __enzyme_fwddiff((void *)square, enzyme_out, x); // refused here
}
