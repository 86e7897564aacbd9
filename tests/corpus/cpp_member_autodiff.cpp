// corpus: levels O1 O2 O3 Og
// Three ways to write the marker in C++: as a variadic template, as an overloaded variadic function, and with C linkage
// under another name; on a member function through a static wrapper, and on a lambda converted to a function pointer.
// f(x) = log(1 + x0 exp(x1)) + x0 x2^2.
#include "corpus.hpp"

class Softplus
{
  public:
    explicit Softplus(double sharpness) : sharpness_(sharpness) {}
    double value(const double *x) const { return log(1.0 + x[0] * exp(sharpness_ * x[1])) + x[0] * x[2] * x[2]; }
    static double call(const Softplus *self, const double *x) { return self->value(x); }

  private:
    double sharpness_;
};

#ifndef CORPUS_NO_AD
extern "C" double __enzyme_autodiff_linkage(void *, ...);
#else
static double __enzyme_autodiff_linkage(void *, ...)
{
    return 0.0;
}
#endif

static const Softplus model(1.0);

static double value(const double *x)
{
    return model.value(x);
}

static double tangent(const double *x, const double *v)
{
    return __enzyme_fwddiff<double>((void *)Softplus::call, enzyme_const, &model, enzyme_dup, x, v);
}

static void gradient(const double *x, double *g)
{
    corpus_zero(g, 3);
    __enzyme_autodiff<double>((void *)Softplus::call, enzyme_const, &model, enzyme_dup, x, g);
}

static void gradient_overload(const double *x, double *g)
{
    corpus_zero(g, 3);
    __enzyme_autodiff((void *)Softplus::call, enzyme_const, &model, enzyme_dup, x, g);
}

static void gradient_linkage(const double *x, double *g)
{
    corpus_zero(g, 3);
    __enzyme_autodiff_linkage((void *)Softplus::call, enzyme_const, &model, enzyme_dup, x, g);
}

static void gradient_typed(const double *x, double *g)
{
    corpus_zero(g, 3);
    __enzyme_autodiff<double>(value, x, g);
}

static void gradient_lambda(const double *x, double *g)
{
    corpus_zero(g, 3);
    __enzyme_autodiff<void>((void *)+[](const double *y) { return Softplus(1.0).value(y); }, enzyme_dup, x, g);
}

static double point[3] = {0.7, 0.4, -0.9};
static const corpus_problem problem = {.name = "cpp_member_autodiff",
                                       .size = 3,
                                       .point = point,
                                       .value = value,
                                       .tangent = tangent,
                                       .gradient = gradient,
                                       .variants = {{.name = "overloaded marker", .gradient = gradient_overload},
                                                    {.name = "marker with C linkage", .gradient = gradient_linkage},
                                                    {.name = "function without a cast", .gradient = gradient_typed},
                                                    {.name = "lambda", .gradient = gradient_lambda}},
                                       .coordinates = CORPUS_ALL};

CORPUS_MAIN(&problem)
