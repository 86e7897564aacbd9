// Lambdas: by reference, by value, mutable, generic, recursive through a parameter, returned from functions and
// composed.
#include "corpus.hpp"

template <class F, class G> static auto compose(F f, G g)
{
    return [f, g](auto t) { return f(g(t)); };
}

static auto logistic(double steepness)
{
    return [steepness](double t) { return 1.0 / (1.0 + exp(-steepness * t)); };
}

template <class F> static double richardson(F f, double t, int depth)
{
    auto slope = [&](auto &self, double h, int level) -> double {
        if (level == 0)
            return (f(t + h) - f(t - h)) / (2.0 * h);
        double scale = 1.0;
        for (int k = 0; k < level; k++)
            scale *= 4.0;
        return (scale * self(self, 0.5 * h, level - 1) - self(self, h, level - 1)) / (scale - 1.0);
    };
    return slope(slope, 0.4, depth);
}

static double functional(const double *x)
{
    double calls = 0.0, last = x[0];
    auto wave = [&](double t) {
        calls += 1.0;
        return last = x[1] * sin(x[2] * t) + 0.1 * last;
    };
    auto accumulate = [sum = 0.0](double t) mutable { return sum += t; };
    auto both = compose(logistic(x[3]), [a = x[0]](auto t) { return t * t - a; });
    double total = 0.0;
    for (int i = 0; i < 6; i++)
        total += accumulate(both(0.3 * i)) + wave(0.2 * i);
    return total + richardson(both, 0.7, 2) + 0.01 * calls * last;
}

static double point[4] = {0.4, 1.1, 0.9, 1.7};
static const corpus_problem problem =
    CORPUS_OF_ARRAY("cpp_lambdas", functional, 4, point, nullptr, .coordinates = CORPUS_ALL);

CORPUS_MAIN(&problem)
