// error[E0201]: an active value is given to a function that is defined elsewhere
extern double __enzyme_autodiff(void *, ...);
extern double elsewhere(double x);

static double twice(double x)
{
    return 2.0 * elsewhere(x * x); // refused here
}

double gradient(double x)
{
    return __enzyme_autodiff((void *)twice, x);
}

// What is met again is not said again.
double gradient_of_half(double x)
{
    return __enzyme_autodiff((void *)twice, 0.5 * x);
}
