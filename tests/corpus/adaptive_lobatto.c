// Recursive adaptive quadrature: an estimate by 4-point Gauss-Lobatto and its 7-point Kronrod extension, subdivision
// into six parts where they disagree, a limit on the depth. The integrand has a peak whose place and width are
// active.
// Source: Gander, Gautschi, "Adaptive quadrature - revisited", BIT 40 (2000).
#include "corpus.h"

struct integrand {
    double centre, width, slope, scale;
    int calls;
};

static double f(struct integrand *p, double t)
{
    double d = (t - p->centre) / p->width;
    p->calls++;
    return p->scale / (1.0 + d * d) + exp(-p->slope * t) * cos(3.0 * t);
}

static double refine(struct integrand *p, double a, double b, double fa, double fb, double tolerance, int depth)
{
    const double alpha = sqrt(2.0 / 3.0), beta = 1.0 / sqrt(5.0);
    double h = 0.5 * (b - a), m = 0.5 * (a + b);
    double t1 = m - alpha * h, t2 = m - beta * h, t3 = m + beta * h, t4 = m + alpha * h;
    double f1 = f(p, t1), f2 = f(p, t2), fm = f(p, m), f3 = f(p, t3), f4 = f(p, t4);
    double coarse = h / 6.0 * (fa + fb + 5.0 * (f2 + f3));
    double fine = h / 1470.0 * (77.0 * (fa + fb) + 432.0 * (f1 + f4) + 625.0 * (f2 + f3) + 672.0 * fm);
    if (fabs(fine - coarse) < tolerance || depth == 0)
        return fine;
    return refine(p, a, t1, fa, f1, tolerance, depth - 1) + refine(p, t1, t2, f1, f2, tolerance, depth - 1) +
           refine(p, t2, m, f2, fm, tolerance, depth - 1) + refine(p, m, t3, fm, f3, tolerance, depth - 1) +
           refine(p, t3, t4, f3, f4, tolerance, depth - 1) + refine(p, t4, b, f4, fb, tolerance, depth - 1);
}

static double integral(const double *x, double tolerance)
{
    struct integrand p = {x[0], x[1], x[2], x[3], 0};
    double a = x[4], b = x[5];
    double result = refine(&p, a, b, f(&p, a), f(&p, b), tolerance, 6);
    return result * result;
}

enum { SIZE = 6 };

static double point[SIZE] = {0.4, 0.05, 0.7, 1.5, -0.5, 2.0};

static void setup(void)
{
}

static double value(const double *x)
{
    return integral(x, CORPUS_SIZE(1e-7, 1e-3));
}

static double tangent(const double *x, const double *v)
{
    return __enzyme_fwddiff((void *)integral, enzyme_dup, x, v, enzyme_const, CORPUS_SIZE(1e-7, 1e-3));
}

static void gradient(const double *x, double *g)
{
    corpus_zero(g, SIZE);
    __enzyme_autodiff((void *)integral, enzyme_dup, x, g, enzyme_const, CORPUS_SIZE(1e-7, 1e-3));
}

static const struct corpus_problem problem = {
    .name = "adaptive_lobatto",
    .size = SIZE,
    .point = point,
    .setup = setup,
    .value = value,
    .tangent = tangent,
    .gradient = gradient,
    .coordinates = CORPUS_ALL,
    .step = 0x1p-20, // the subdivision stays the same
    .fd_tolerance = 1e-6, // rounding over a small step
};

CORPUS_MAIN(&problem)
