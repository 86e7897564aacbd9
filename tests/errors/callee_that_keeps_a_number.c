// error[E0201]: an active number is given to a function that is defined elsewhere, returns whether all went well, and may keep it for another
extern double __enzyme_autodiff(void *, ...);
struct precise { int sign; long limbs[4]; };
extern int keep(struct precise *, double);
extern double kept(struct precise *);

static double through(double x)
{
    struct precise p;
    keep(&p, x * x); // refused here
    return kept(&p);
}

double gradient(double x)
{
    return __enzyme_autodiff((void *)through, x);
}
