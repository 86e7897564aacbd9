// error[E0203]: "numbers are made of text"
// A number goes through a string stream.
#include <sstream>

double __enzyme_autodiff(void *, ...);

static double formatted(double x)
{
    std::stringstream stream;
    stream << x * x;
    double y = 0.0;
    stream >> y;
    return x * y;
}

double gradient(double x) { return __enzyme_autodiff((void *)formatted, x); }
