// The markers of derivatives for C, with their annotations in pairs that can't be taken apart by mistake.
//
//   #include <enzyme/markers.h>
//
//   double loss(const double *x, const double *data, int n);
//   ENZYME_GRADIENT(loss, ENZYME_DUP(x, dx), ENZYME_CONST(data), ENZYME_CONST(n));           // adds to dx
//   double slope = ENZYME_TANGENT(double, f, ENZYME_DUP(x, 1.0));                            // f'(x)
//   double both = ENZYME_ADJOINT(double, f, ENZYME_OUT(x));                                  // f'(x), returned
//
// Nothing here is needed: a program may declare `extern double __enzyme_autodiff(void *, ...)` and `extern int enzyme_dup` itself,
// under any name that contains these, and the macros are those declarations. Types that may be returned: void, float, double; for
// others say once, outside of functions, ENZYME_RETURNS(type, name), and give the name instead of the type.
//
// C11 and C++17 (which has <enzyme/enzyme>). Compile with -fpass-plugin=LLVMEnzyme-22.so.
#ifndef ENZYME_MARKERS_H
#define ENZYME_MARKERS_H

#ifdef __cplusplus
extern "C" {
#endif

extern int enzyme_const, enzyme_dup, enzyme_dupnoneed, enzyme_out, enzyme_dupv, enzyme_dupnoneedv;
extern int enzyme_width, enzyme_primal_return, enzyme_dup_return, enzyme_const_return, enzyme_tape, enzyme_nofree;
extern int enzyme_runtime_activity, enzyme_strong_zero, enzyme_max_tape, enzyme_atomic_add;

// ---- arguments of the function, one for each parameter, in order

// Inactive: no derivative flows through it.
#define ENZYME_CONST(argument) enzyme_const, (argument)
// With its shadow. In forward mode the shadow of a pointer leads to tangents, and that of a number is its tangent; in reverse mode
// adjoints are *added* to what the shadow of a pointer leads to.
#define ENZYME_DUP(argument, shadow) enzyme_dup, (argument), (shadow)
// The same, where what the function leaves in the argument's memory is not wanted. A function that only writes there may be given
// a null pointer.
#define ENZYME_DUPNONEED(argument, shadow) enzyme_dupnoneed, (argument), (shadow)
// Reverse mode: a number whose derivative is returned.
#define ENZYME_OUT(argument) enzyme_out, (argument)
// With several shadows (ENZYME_WIDTH), which are `bytes` apart; `shadow` is the first.
#define ENZYME_DUPV(bytes, argument, shadow) enzyme_dupv, (bytes), (argument), (shadow)
#define ENZYME_DUPNONEEDV(bytes, argument, shadow) enzyme_dupnoneedv, (bytes), (argument), (shadow)

// ---- of the whole call, before any argument

// So many tangents or adjoints side by side.
#define ENZYME_WIDTH(lanes) enzyme_width, (lanes)
// The result of the function is returned, too, before its derivative.
#define ENZYME_WITH_RESULT enzyme_primal_return
// The result has no derivative.
#define ENZYME_CONST_RESULT enzyme_const_return
// A shadow that is the argument itself says that its memory is constant.
#define ENZYME_RUNTIME_ACTIVITY enzyme_runtime_activity
// Zero times a derivative that is infinite, or not a number, is zero.
#define ENZYME_STRONG_ZERO enzyme_strong_zero
// Adjoints in memory are added atomically: several threads may run the derivative on the same shadows.
#define ENZYME_ATOMIC_ADD enzyme_atomic_add
// Loops keep at most so many bytes (size_t) in all, and repeat steps.
#define ENZYME_MAX_TAPE(bytes) enzyme_max_tape, (bytes)
// The tape of a derivative in two calls is at this address, in ENZYME_TAPE_SIZE bytes.
#define ENZYME_TAPE(address) enzyme_tape, (address)
// The tape stays for another reverse sweep.
#define ENZYME_KEEP_TAPE enzyme_nofree

// ---- derivatives

// Reverse mode of a function whose derivatives go to shadows.
#define ENZYME_GRADIENT(function, ...) __enzyme_autodiff_void((void *)(function), __VA_ARGS__)
// Reverse mode that returns this type: the derivative of the one ENZYME_OUT, or a structure of all of them, in order.
#define ENZYME_ADJOINT(type, function, ...) __enzyme_autodiff_##type((void *)(function), __VA_ARGS__)
// Forward mode that returns the tangent of the result.
#define ENZYME_TANGENT(type, function, ...) __enzyme_fwddiff_##type((void *)(function), __VA_ARGS__)
// Reverse mode in two calls: the first runs the function and returns the tape (with ENZYME_TAPE, nothing), the second goes back.
#define ENZYME_AUGMENTED(function, ...) __enzyme_augmentfwd_tape((void *)(function), __VA_ARGS__)
#define ENZYME_REVERSE(type, function, ...) __enzyme_reverse_##type((void *)(function), __VA_ARGS__)
#define ENZYME_TAPE_SIZE(function, ...) __enzyme_augmentsize((void *)(function), __VA_ARGS__)

// Declares the markers that return `type`, under a name.
#define ENZYME_RETURNS(type, name)                                                                                     \
  extern type __enzyme_autodiff_##name(void *, ...);                                                                   \
  extern type __enzyme_fwddiff_##name(void *, ...);                                                                    \
  extern type __enzyme_reverse_##name(void *, ...);

ENZYME_RETURNS(void, void)
ENZYME_RETURNS(float, float)
ENZYME_RETURNS(double, double)
extern void *__enzyme_augmentfwd_tape(void *, ...);
extern int __enzyme_augmentsize(void *, ...);

#ifdef __cplusplus
}
#endif

#endif
