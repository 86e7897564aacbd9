// error[E0105]: whether a parameter differs from lane to lane has to be said
extern int enzyme_width;
extern double __enzyme_batch(void *, ...);

static double square(double x)
{
    return x * x;
}

double twice(double x)
{
    return __enzyme_batch((void *)square, enzyme_width, 2, x, x); // refused here
}
