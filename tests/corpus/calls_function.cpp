// std::function, lambdas and functors: a pipeline of captured steps, a function that makes functions, and Newton's method
// that is given both the function and its derivative as lambdas. What is captured by value, by reference, and a pointer to
// a plain function.
//
// corpus: libc++ O0 O2
#include <functional>

#include "corpus.hpp"

enum { SIZE = 6 };

using Function = std::function<double(double)>;

struct Polynomial {
    const double *coefficients;
    int degree;
    double operator()(double t) const
    {
        double sum = 0.0;
        for (int i = degree; i >= 0; i--)
            sum = sum * t + coefficients[i];
        return sum;
    }
};

template <typename F, typename G> static double root(F f, G slope, double t)
{
    for (int i = 0; i < 6; i++)
        t -= f(t) / slope(t);
    return t;
}

static Function after(double (*f)(double), double scale)
{
    return [f, scale](double t) { return scale * f(t) + t; };
}

static double softplus(double t)
{
    return log(1.0 + exp(t));
}

template <typename F> static double trapezium(F f, double a, double b, int n)
{
    double sum = 0.5 * (f(a) + f(b));
    for (int i = 1; i < n; i++)
        sum += f(a + (b - a) * i / n);
    return sum * (b - a) / n;
}

static double pipeline(const double *x)
{
    double offset = x[0] * x[1];
    Function polynomial = Polynomial{x, 2};
    Function shifted = [&offset, x](double t) { return sin(t + offset) + x[3]; };
    Function plain = softplus;
    double value = shifted(polynomial(x[4])) + plain(x[5]);
    offset += x[2];
    value += shifted(x[5]) * after(softplus, x[1])(x[2]);
    value += root([=](double t) { return t * t * t - x[5]; }, [](double t) { return 3.0 * t * t; }, 1.0);
    value += trapezium([&](double t) { return x[0] * exp(-x[1] * t * t) + offset; }, 0.0, x[3], 12);
    return value;
}

static double point[SIZE];

static void setup()
{
    corpus_seed(311);
    corpus_fill(point, SIZE, 0.5, 1.2);
}

static const corpus_problem problem =
    CORPUS_OF_ARRAY("calls_function", pipeline, SIZE, point, setup, .coordinates = CORPUS_ALL);

CORPUS_MAIN(&problem)
