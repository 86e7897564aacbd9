// An adaptive integrator that is given its integrand and a context: recursive, with the function pointer handed down; one
// integrand integrates another one, another one is a function of the C library behind a prototype without parameters.
// Kuncir, Algorithm 103, Simpson's rule integrator, CACM 5 (1962).
#include "corpus.h"

enum { N = 5 };

typedef double (*integrand)(double, void *);

__attribute__((noinline)) static double adaptive(integrand f, void *context, double a, double b, double fa, double fm,
                                                 double fb, int depth)
{
    double m = 0.5 * (a + b), h = b - a;
    double fl = f(0.5 * (a + m), context), fr = f(0.5 * (m + b), context);
    double coarse = h / 6.0 * (fa + 4.0 * fm + fb);
    double fine = h / 12.0 * (fa + 4.0 * fl + 2.0 * fm + 4.0 * fr + fb);
    if (depth <= 0 || fabs(fine - coarse) < 1e-6)
        return fine;
    return adaptive(f, context, a, m, fa, fl, fm, depth - 1) + adaptive(f, context, m, b, fm, fr, fb, depth - 1);
}

static double integrate(integrand f, void *context, double a, double b)
{
    return adaptive(f, context, a, b, f(a, context), f(0.5 * (a + b), context), f(b, context), CORPUS_SIZE(5, 2));
}

static double bell(double t, void *context)
{
    const double *p = context;
    return p[0] * exp(-p[1] * (t - p[2]) * (t - p[2]));
}

struct outer {
    integrand inner;
    double *parameters;
    double upper;
};

static double nested(double t, void *context)
{
    struct outer *o = context;
    return t * o->inner(t * o->upper, o->parameters) + 0.1 * t * t;
}

struct plain {
    double (*function)();
    double scale;
};

static double called_plainly(double t, void *context)
{
    struct plain *p = context;
    return p->function(p->scale * t);
}

static double area(double *x)
{
    struct outer outer = {bell, x, x[3]};
    struct plain plain = {(double (*)())sin, x[4]};
    return integrate(bell, x, 0.0, x[3]) * integrate(nested, &outer, 0.0, 1.5) + integrate(called_plainly, &plain, 0.1, x[3]);
}

static double point[N], work[N], shadow[N];

static void setup(void)
{
    corpus_seed(306);
    corpus_fill(point, N, 0.6, 1.4);
}

static double value(const double *x)
{
    corpus_copy(work, x, N);
    return area(work);
}

static double tangent(const double *x, const double *v)
{
    corpus_copy(work, x, N);
    corpus_copy(shadow, v, N);
    return __enzyme_fwddiff((void *)area, enzyme_dup, work, shadow);
}

static void gradient(const double *x, double *g)
{
    corpus_copy(work, x, N);
    corpus_zero(g, N);
    __enzyme_autodiff((void *)area, enzyme_dup, work, g);
}

static const struct corpus_problem problem = {
    .name = "calls_simpson",
    .size = N,
    .point = point,
    .setup = setup,
    .value = value,
    .tangent = tangent,
    .gradient = gradient,
    .coordinates = CORPUS_ALL,
    .step = 0x1p-20,      // too small a step to change where the recursion ends
    .fd_tolerance = 1e-6, // so that rounding limits the differences
};

CORPUS_MAIN(&problem)
