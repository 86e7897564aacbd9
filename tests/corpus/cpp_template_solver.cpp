// A generic Newton solver over scalar types and functors, with concepts: instantiated for double and for an own dual
// number that gives the slope, which the plugin differentiates once more.
//
// corpus: libc++ O0 O2
#include <cmath>
#include <concepts>

#include "corpus.hpp"

struct Dual {
    double value, slope;
    Dual(double v, double s = 0.0) : value(v), slope(s) {}
    friend Dual operator+(Dual a, Dual b) { return {a.value + b.value, a.slope + b.slope}; }
    friend Dual operator-(Dual a, Dual b) { return {a.value - b.value, a.slope - b.slope}; }
    friend Dual operator*(Dual a, Dual b) { return {a.value * b.value, a.slope * b.value + a.value * b.slope}; }
    friend Dual exp(Dual a) { return {std::exp(a.value), a.slope * std::exp(a.value)}; }
};

template <class F, class T>
concept ScalarFunction = requires(F f, T t) {
    { f(t) } -> std::convertible_to<T>;
};

template <ScalarFunction<Dual> F> static double solve(const F &f, double start)
{
    double at = start;
    for (int i = 0; i < 8; i++) {
        Dual r = f(Dual(at, 1.0));
        at -= r.value / r.slope;
    }
    return at;
}

static double operating_point(const double *x)
{
    // A diode and a resistor at a source: the current through both is equal.
    auto excess = [x](auto v) {
        using std::exp;
        using T = decltype(v);
        return T(x[0]) * (exp(v * T(x[1])) - T(1.0)) - (T(x[2]) - v) * T(x[3]);
    };
    double voltage = solve(excess, 0.5);
    return voltage * (x[2] - voltage) * x[3];
}

static double point[4] = {0.05, 3.0, 1.8, 0.9};
static const corpus_problem problem =
    CORPUS_OF_ARRAY("cpp_template_solver", operating_point, 4, point, nullptr, .coordinates = CORPUS_ALL);

CORPUS_MAIN(&problem)
