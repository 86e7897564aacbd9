// Adaptive Simpson quadrature, recursive: integral over [a, b] of exp(-p t) sin(q t) + r / (1 + t^2).
// The recursion tree depends on the active parameters; the derivative is that of the tree which was walked.
// Source: Lyness, "Notes on the adaptive Simpson quadrature routine", Journal of the ACM 16 (1969).
#include "corpus.h"

static double integrand(double t, const double *parameters)
{
    return exp(-parameters[0] * t) * sin(parameters[1] * t) + parameters[2] / (1.0 + t * t);
}

static double simpson(double width, double left, double middle, double right)
{
    return width / 6.0 * (left + 4.0 * middle + right);
}

static double refine(const double *parameters, double a, double b, double at_a, double at_middle, double at_b,
                     double whole, double tolerance, int depth)
{
    double middle = 0.5 * (a + b);
    double at_left = integrand(0.5 * (a + middle), parameters);
    double at_right = integrand(0.5 * (middle + b), parameters);
    double left = simpson(middle - a, at_a, at_left, at_middle);
    double right = simpson(b - middle, at_middle, at_right, at_b);
    double change = left + right - whole;
    if (depth <= 0 || fabs(change) <= 15.0 * tolerance)
        return left + right + change / 15.0;
    return refine(parameters, a, middle, at_a, at_left, at_middle, left, 0.5 * tolerance, depth - 1) +
           refine(parameters, middle, b, at_middle, at_right, at_b, right, 0.5 * tolerance, depth - 1);
}

static double integrate(const double *parameters, double a, double b, double tolerance)
{
    double at_a = integrand(a, parameters), at_b = integrand(b, parameters);
    double at_middle = integrand(0.5 * (a + b), parameters);
    return refine(parameters, a, b, at_a, at_middle, at_b, simpson(b - a, at_a, at_middle, at_b), tolerance, 30);
}

enum { SIZE = 5 };

static const double tolerance = CORPUS_SIZE(1e-9, 1e-5);
static const double point[SIZE] = {0.5, 6.0, 0.8, -0.3, 4.0};
static const char *const labels[SIZE] = {"p", "q", "r", "a", "b"};

struct bounds {
    double a, b;
};

CORPUS_MARKER(struct bounds, __enzyme_autodiff_bounds)

static double value(const double *x)
{
    return integrate(x, x[3], x[4], tolerance);
}

static double tangent(const double *x, const double *v)
{
    return __enzyme_fwddiff((void *)integrate, enzyme_dup, x, v, enzyme_dup, x[3], v[3], enzyme_dup, x[4], v[4],
                            enzyme_const, tolerance);
}

static void gradient(const double *x, double *g)
{
    corpus_zero(g, SIZE);
    struct bounds bounds = __enzyme_autodiff_bounds((void *)integrate, enzyme_dup, x, g, enzyme_out, x[3], enzyme_out,
                                                    x[4], enzyme_const, tolerance);
    g[3] = bounds.a;
    g[4] = bounds.b;
}

static void gradient_parameters(const double *x, double *g)
{
    corpus_zero(g, 3);
    __enzyme_autodiff((void *)integrate, x, g, enzyme_const, x[3], enzyme_const, x[4], enzyme_const, tolerance);
}

// The fundamental theorem of calculus. The quadrature is exact to its own tolerance, so is its derivative, roughly.
static int extra(void)
{
    double g[SIZE];
    gradient(point, g);
    double worst = fmax(fabs(g[3] + integrand(point[3], point)), fabs(g[4] - integrand(point[4], point)));
    return corpus_check("simpson", "derivative in the bounds is the integrand", worst, 1e3 * tolerance);
}

static const struct corpus_problem problem = {
    .name = "simpson",
    .size = SIZE,
    .point = point,
    .setup = NULL,
    .value = value,
    .tangent = tangent,
    .gradient = gradient,
    .variants = {{.name = "gradient of the parameters alone", .gradient = gradient_parameters, .end = 3}},
    .extra = extra,
    .labels = labels,
    .coordinates = CORPUS_ALL,
    .step = 0x1p-18,      // small enough that the recursion tree stays the same
    .fd_tolerance = 1e-6, // the small step costs digits: eps / step
};

CORPUS_MAIN(&problem)
