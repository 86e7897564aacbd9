// Scalars by value and by reference, struct results through references, default arguments and overloads: the orbit of a
// satellite after one burn; the marker returns the derivative of a scalar and a struct of derivatives.
#include "corpus.hpp"

struct Orbit {
    double axis, eccentricity;
};

static void burn(Orbit &orbit, double &mass, double delta, double exhaust = 3.0)
{
    mass *= exp(-delta / exhaust);
    double speed = sqrt((1.0 + orbit.eccentricity) / (orbit.axis * (1.0 - orbit.eccentricity))) + delta;
    double near = orbit.axis * (1.0 - orbit.eccentricity);
    orbit.axis = 1.0 / (2.0 / near - speed * speed);
    orbit.eccentricity = 1.0 - near / orbit.axis;
}

static double cost(double axis, double eccentricity, double delta)
{
    Orbit orbit{axis, eccentricity};
    double mass = 1.0;
    burn(orbit, mass, delta);
    burn(orbit, mass, -0.3 * delta, 4.5);
    return (orbit.axis - 2.0) * (orbit.axis - 2.0) + orbit.eccentricity - 0.1 * log(mass);
}

struct Gradient {
    double axis, eccentricity, delta;
};

static double value(const double *x)
{
    return cost(x[0], x[1], x[2]);
}

static double tangent(const double *x, const double *v)
{
    return __enzyme_fwddiff<double>((void *)cost, x[0], v[0], x[1], v[1], x[2], v[2]);
}

static void gradient(const double *x, double *g)
{
    Gradient d = __enzyme_autodiff<Gradient>((void *)cost, x[0], x[1], x[2]);
    g[0] = d.axis;
    g[1] = d.eccentricity;
    g[2] = d.delta;
}

static void only_delta(const double *x, double *g)
{
    g[2] = __enzyme_autodiff<double>((void *)cost, enzyme_const, x[0], enzyme_const, x[1], enzyme_out, x[2]);
}

static double point[3] = {1.1, 0.15, 0.2};
static const corpus_problem problem = {
    .name = "cpp_reference_scalars",
    .size = 3,
    .point = point,
    .value = value,
    .tangent = tangent,
    .gradient = gradient,
    .variants = {{.name = "one active scalar", .gradient = only_delta, .begin = 2, .end = 3}},
    .step = 0x1p-9,
    .coordinates = CORPUS_ALL};

CORPUS_MAIN(&problem)
