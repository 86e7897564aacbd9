// error[E0203]: "may change active data"
// A promise keeps its value by a function that the C++ library finds in a variable of the thread.
#include <future>

template <typename R, typename... T> R __enzyme_autodiff(T...);

static double kept(double x)
{
    std::promise<double> promise;
    promise.set_value(x * x);
    return promise.get_future().get() * x;
}

double gradient(double x) { return __enzyme_autodiff<double>((void *)kept, x); }
