// What a generated program sees: markers, its own description, and helpers that keep values bounded.
#ifndef FUZZ_CHECK_H
#define FUZZ_CHECK_H

#include <math.h>
#include <stdlib.h>
#include <string.h>

extern int enzyme_const, enzyme_dup, enzyme_dupnoneed, enzyme_out;
extern double __enzyme_autodiff(void *, ...);
extern void __enzyme_autodiff_void(void *, ...);
extern float __enzyme_autodiff_float(void *, ...);
extern double __enzyme_fwddiff(void *, ...);
extern float __enzyme_fwddiff_float(void *, ...);
extern void __enzyme_fwddiff_void(void *, ...);

#ifdef FUZZ_PLAIN // Without derivatives: what the compiler alone makes of the program.
#define __enzyme_autodiff(...) 0.0
#define __enzyme_autodiff_void(...) ((void)0)
#define __enzyme_autodiff_float(...) 0.0f
#define __enzyme_fwddiff(...) 0.0
#define __enzyme_fwddiff_float(...) 0.0f
#define __enzyme_fwddiff_void(...) ((void)0)
#endif

// x[0..16) is memory that the function may overwrite, x[16] is passed by value, `n` is a small integer.
enum { FUZZ_MEMORY = 16, FUZZ_INPUTS = 17 };

struct fuzz_case {
    int id;
    int floats; // whether it computes in single precision somewhere
    double (*value)(double *x, int n);
    double (*reference)(double *x, int n); // the same in double precision throughout
    void (*gradient)(double *x, double *adjoint, int n);
    double (*tangent)(double *x, double *tangent, int n);
};

extern const struct fuzz_case fuzz_cases[];
extern const int fuzz_count;

// |squash(x)| <= 1/2.
static inline double squash(double x)
{
    return x / (1.0 + x * x);
}

#endif
