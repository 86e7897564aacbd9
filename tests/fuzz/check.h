// What a generated program sees: markers, its own description, and helpers that keep values bounded.
#ifndef FUZZ_CHECK_H
#define FUZZ_CHECK_H

#include <math.h>
#include <stdlib.h>
#include <string.h>

extern int enzyme_const, enzyme_dup, enzyme_dupnoneed, enzyme_out, enzyme_width;
extern double __enzyme_autodiff(void *, ...);
extern void __enzyme_autodiff_void(void *, ...);
extern float __enzyme_autodiff_float(void *, ...);
extern double __enzyme_fwddiff(void *, ...);
extern float __enzyme_fwddiff_float(void *, ...);
extern void __enzyme_fwddiff_void(void *, ...);

// For the other modes. The second half of each is for results in single precision.
struct fuzz_tape {
    void *tape;
    double value;
};
struct fuzz_tape_float {
    void *tape;
    float value;
};
struct fuzz_two {
    double a, b;
};
struct fuzz_two_float {
    float a, b;
};
extern struct fuzz_tape __enzyme_augmentfwd(void *, ...);
extern struct fuzz_tape_float __enzyme_augmentfwd_float(void *, ...);
extern void *__enzyme_augmentfwd_void(void *, ...);
extern double __enzyme_reverse(void *, ...);
extern float __enzyme_reverse_float(void *, ...);
extern void __enzyme_reverse_void(void *, ...);
extern struct fuzz_two __enzyme_autodiff_two(void *, ...);
extern struct fuzz_two_float __enzyme_autodiff_two_float(void *, ...);
extern struct fuzz_two __enzyme_fwddiff_two(void *, ...);
extern struct fuzz_two_float __enzyme_fwddiff_two_float(void *, ...);

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
    // Null, or the same in other modes: the gradient by two calls; gradients and tangents in two lanes, whose numbers are those of
    // two calls; and the derivative of the gradient along (v, h), left in h.
    void (*split)(double *x, double *adjoint, int n);
    void (*lanes)(double *x, double *adjoint, double *other, int n);
    void (*tangents)(double *x, double *tangent, double *other, int n, double *results);
    void (*second)(double *x, double *v, double *adjoint, double *h, int n);
};

#ifdef FUZZ_PLAIN
#define FUZZ_MODES(...) 0, 0, 0, 0
#else
#define FUZZ_MODES(...) __VA_ARGS__
#endif

extern const struct fuzz_case fuzz_cases[];
extern const int fuzz_count;

// |squash(x)| <= 1/2.
static inline double squash(double x)
{
    return x / (1.0 + x * x);
}

#endif
