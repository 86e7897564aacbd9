// A gradient in use: a small nonlinear conjugate-gradient optimiser, generic in the objective, takes __enzyme_autodiff of
// a functor of std::vector; its result is checked against theory, and its objective in the usual way.
//
// corpus: libc++ O0 O2
#include <vector>

#include "corpus.hpp"

struct Beale {
    double operator()(const std::vector<double> &p) const
    {
        double x = p[0], y = p[1], sum = 0.0, target[3] = {1.5, 2.25, 2.625}, power = 1.0;
        for (double t : target) {
            power *= y;
            sum += (t - x + x * power) * (t - x + x * power);
        }
        return sum;
    }
};

template <class F> static double apply(const F *f, const std::vector<double> *p)
{
    return (*f)(*p);
}

template <class F> static std::vector<double> slope(const F &f, const std::vector<double> &p)
{
    std::vector<double> g(p.size(), 0.0);
    __enzyme_autodiff<void>((void *)apply<F>, enzyme_const, &f, enzyme_dup, &p, &g);
    return g;
}

static double point[2] = {2.2, 0.1};

static double value(const double *x)
{
    return Beale()({x[0], x[1]});
}

static double tangent(const double *x, const double *v)
{
    Beale f;
    std::vector<double> p(x, x + 2), moved(v, v + 2);
    return __enzyme_fwddiff<double>((void *)apply<Beale>, enzyme_const, &f, enzyme_dup, &p, &moved);
}

static void gradient(const double *x, double *g)
{
    std::vector<double> found = slope(Beale(), {x[0], x[1]});
    corpus_copy(g, found.data(), 2);
}

static int minimum()
{
    Beale f;
    std::vector<double> p = {point[0], point[1]};
    for (int step = 0; step < 4000; step++) {
        std::vector<double> g = slope(f, p);
        double length = 0.5, square = g[0] * g[0] + g[1] * g[1];
        while (f({p[0] - length * g[0], p[1] - length * g[1]}) > f(p) - 0.5 * length * square && length > 1e-12)
            length *= 0.5;
        p[0] -= length * g[0];
        p[1] -= length * g[1];
    }
    return corpus_check("cpp_optimiser", "minimum at (3, 1/2)", fabs(p[0] - 3.0) + fabs(p[1] - 0.5), 1e-4);
}

static const corpus_problem problem = {.name = "cpp_optimiser",
                                       .size = 2,
                                       .point = point,
                                       .value = value,
                                       .tangent = tangent,
                                       .gradient = gradient,
                                       .extra = minimum,
                                       .coordinates = CORPUS_ALL};

CORPUS_MAIN(&problem)
