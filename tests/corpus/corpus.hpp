// The harness of corpus.h for C++: the markers as templates, and problems of functions of plain arrays.
//
// `__enzyme_autodiff<R>(function, ...)` is how most C++ programs declare the marker. A program may as well use the
// variadic functions of corpus.h, which overload these, or declare its own.
#ifndef CORPUS_HPP
#define CORPUS_HPP

#include "corpus.h"

#ifdef CORPUS_NO_AD
template <typename R, typename... T> R __enzyme_autodiff(T...)
{
    return R();
}
template <typename R, typename... T> R __enzyme_fwddiff(T...)
{
    return R();
}
#else
template <typename R, typename... T> R __enzyme_autodiff(T...);
template <typename R, typename... T> R __enzyme_fwddiff(T...);
#endif

// Derivatives of `double F(const double *x)`, x in R^N.
template <double (*F)(const double *), size_t N> struct corpus_of_array {
    static double tangent(const double *x, const double *v)
    {
        return __enzyme_fwddiff<double>((void *)F, enzyme_dup, x, v);
    }

    static void gradient(const double *x, double *g)
    {
        corpus_zero(g, N);
        __enzyme_autodiff<void>((void *)F, enzyme_dup, x, g);
    }
};

// Further fields of the problem may follow, from `.variants` on.
#define CORPUS_OF_ARRAY(label, function, count, x, prepare, ...)                                                       \
    {                                                                                                                  \
        .name = label, .size = count, .point = x, .setup = prepare, .value = function,                                 \
        .tangent = corpus_of_array<function, count>::tangent, .gradient = corpus_of_array<function, count>::gradient,  \
        __VA_ARGS__                                                                                                    \
    }

#endif
