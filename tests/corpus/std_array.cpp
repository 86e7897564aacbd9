// std::array by value and by reference: a fourth-order Runge-Kutta step of the Lorenz system, whose state is
// std::array<double, 3> passed and returned by value.
//
// corpus: libc++ O0 O2
#include <array>

#include "corpus.hpp"

using State = std::array<double, 3>;

static State operator+(const State &a, const State &b)
{
    return {a[0] + b[0], a[1] + b[1], a[2] + b[2]};
}

static State operator*(double s, const State &a)
{
    return {s * a[0], s * a[1], s * a[2]};
}

static State lorenz(const State &u, const State &p)
{
    return {p[0] * (u[1] - u[0]), u[0] * (p[1] - u[2]) - u[1], u[0] * u[1] - p[2] * u[2]};
}

static double final_height(const State &start, const State &parameters)
{
    State u = start;
    const double h = 0.02;
    for (int i = 0; i < 30; i++) {
        State k1 = lorenz(u, parameters);
        State k2 = lorenz(u + 0.5 * h * k1, parameters);
        State k3 = lorenz(u + 0.5 * h * k2, parameters);
        State k4 = lorenz(u + h * k3, parameters);
        u = u + (h / 6.0) * (k1 + 2.0 * k2 + 2.0 * k3 + k4);
    }
    return u[2] + 0.1 * u[0] * u[1];
}

static double point[6] = {1.0, 0.5, 2.0, 10.0, 28.0, 8.0 / 3.0};

static double value(const double *x)
{
    return final_height({x[0], x[1], x[2]}, {x[3], x[4], x[5]});
}

static double tangent(const double *x, const double *v)
{
    State a{x[0], x[1], x[2]}, da{v[0], v[1], v[2]}, b{x[3], x[4], x[5]}, db{v[3], v[4], v[5]};
    return __enzyme_fwddiff<double>((void *)final_height, &a, &da, &b, &db);
}

static void gradient(const double *x, double *g)
{
    State a{x[0], x[1], x[2]}, da{}, b{x[3], x[4], x[5]}, db{};
    __enzyme_autodiff<void>((void *)final_height, &a, &da, &b, &db);
    corpus_copy(g, da.data(), 3);
    corpus_copy(g + 3, db.data(), 3);
}

static const corpus_problem problem = {.name = "std_array",
                                       .size = 6,
                                       .point = point,
                                       .value = value,
                                       .tangent = tangent,
                                       .gradient = gradient,
                                       .coordinates = CORPUS_ALL};

CORPUS_MAIN(&problem)
