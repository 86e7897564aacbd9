// error[E0203]: "active data carried by an exception"
// The exception has a text before its number, which the handler computes with.
#include <cmath>
#include <stdexcept>

extern "C" double __enzyme_autodiff(void *, ...);

struct OutOfRange : std::runtime_error {
    double by;
    OutOfRange(const char *what, double by) : std::runtime_error(what), by(by) {}
};

static double checked(double x)
{
    if (x > 0.5)
        throw OutOfRange("too large for the table", x - 0.5);
    return std::sin(x);
}

static double model(double x)
{
    try {
        return checked(x);
    } catch (const OutOfRange &error) {
        return error.by * error.by; // refused here
    }
}

double slope(double x) { return __enzyme_autodiff((void *)model, x); }
