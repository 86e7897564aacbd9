// error[E0201]: an active value is given to a function that is defined elsewhere, in forward mode
extern double __enzyme_fwddiff(void *, ...);
extern double elsewhere(double x);

static double twice(double x)
{
    return 2.0 * elsewhere(x * x); // refused here
}

double tangent(double x)
{
    return __enzyme_fwddiff((void *)twice, x, 1.0);
}
