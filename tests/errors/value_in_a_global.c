// error[E0203]: "may read active data in a global variable"
// A library computes with a value that the program left for it.
double library_area(void);
extern double library_radius;
double __enzyme_autodiff(void *, ...);

static double area(double x)
{
    library_radius = x;
    return library_area();
}

double gradient(double x) { return __enzyme_autodiff((void *)area, x); }
