// What a kernel of the benchmark describes: the function, its gradient by a marker call, and an adjoint written by hand.
//
// A kernel is one file. It says how its data is made for a size, and gives five functions of that data: the primal, our gradient
// alone, our value and gradient, and both by hand. main.c checks and measures them; several objects of one file, made in
// different ways (`BENCH_COLUMN`), may be linked into one program, which then measures them in turns.
//
// The contract of a gradient, ours and the handwritten one: the partial derivatives are added to memory that is zero, as the
// markers ask for; the zeroing is part of what is timed. The handwritten adjoint is what somebody would write who knows both the
// mathematics of reverse mode and the compiler: data kept once, sweeps fused where they can be, updates gathered so that they
// vectorise. It is the adjoint of the same algorithm: no other algorithm for the same mathematics, and no relaxed arithmetic
// that the flags do not allow the primal too.
//
// Mathematics that the corpus has already is included from there, and is checked there against finite differences.
#ifndef BENCH_H
#define BENCH_H

// Its checks, which know NaN and infinity, are not used here.
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wunused-function"
#pragma clang diagnostic ignored "-Wnan-infinity-disabled"
#include "../corpus/corpus.h"
#pragma clang diagnostic pop

// A program of the corpus that is included brings its functions only.
#undef CORPUS_MAIN
#define CORPUS_MAIN(...)

#ifdef __cplusplus
#define BENCH_EXTERN extern "C"
#define restrict __restrict
#else
#define BENCH_EXTERN extern
#endif

#define BENCH_INLINE static inline __attribute__((always_inline))

// The head of every kernel's data: what is active.
struct bench_point {
    int size;
    size_t count; // of x, and of the gradient
    double *x;
};

// What the mathematics takes beside x, by name.
struct bench_input {
    const char *name;
    const double *reals; // or
    const int *integers;
    size_t count;
};

enum { BENCH_INPUTS = 8 };

struct bench_kernel {
    const char *name;
    int small, normal; // sizes: of checks and instruction counts, and of the table
    int sweep[5];      // sizes that show the growth; may be empty
    struct bench_point *(*setup)(int size);
    double (*primal)(struct bench_point *point);
    void (*gradient)(struct bench_point *point, double *gradient);
    double (*value_gradient)(struct bench_point *point, double *gradient);
    void (*hand)(struct bench_point *point, double *gradient);
    double (*hand_value)(struct bench_point *point, double *gradient);
    void (*hand_checkpoints)(struct bench_point *point, double *gradient); // with recomputation from checkpoints; may be null
    // A tangent in direction (1, ..., 1); eight of them, in l times that direction; an adjoint with seed 1; eight, with seed l. Each
    // leaves in gradient[0] what the first must be, from the last of its lanes. May be null.
    void (*lanes[4])(struct bench_point *point, double *gradient);
    size_t (*kept)(int size); // bytes of distinct data that the reverse sweep needs; null: none
    // The inputs, into zeroed memory for BENCH_INPUTS of them: what other tools differentiate the same mathematics with. Null where
    // there is nothing but x.
    void (*inputs)(const struct bench_point *point, struct bench_input *inputs);
    double tolerance; // ours against the handwritten one, relative to the largest component [1e-11]
};

// Memory of a kernel's data, zeroed, 64-byte aligned; main.c frees it with the point.
BENCH_EXTERN void *bench_memory(size_t bytes);

#define BENCH_NEW(type, count) ((type *)bench_memory(sizeof(type) * (size_t)(count)))

#ifndef BENCH_COLUMN
#define BENCH_COLUMN ours
#endif
#define BENCH_PASTE(a, b) a##b
#define BENCH_NAME(column) BENCH_PASTE(bench_kernel_, column)

BENCH_EXTERN const struct bench_kernel BENCH_NAME(BENCH_COLUMN);

#define BENCH_REALS(name, values, count) ((struct bench_input){name, values, NULL, (size_t)(count)})
#define BENCH_INTEGERS(name, values, count) ((struct bench_input){name, NULL, values, (size_t)(count)})

BENCH_EXTERN const struct bench_kernel bench_kernel_ours;

// Another tool, which differentiates the same mathematics as it is written for it in `others/`. A member may be null.
struct bench_tool {
    const char *name;
    double (*value)(const struct bench_point *point);
    void (*gradient)(struct bench_point *point, double *gradient); // all that is needed for a new x, whatever its branches
    void (*reused)(struct bench_point *point, double *gradient);   // what was recorded once is used again
    size_t (*tape)(void);                                          // bytes that the last gradient recorded
};

BENCH_EXTERN const struct bench_tool bench_tool_plain;
BENCH_EXTERN const struct bench_tool bench_tool_adolc;
BENCH_EXTERN const struct bench_tool bench_tool_cppad;

// The two functions of the handwritten adjoint, from one that adds the gradient and returns the value: where the value is not
// asked for, the compiler drops what only it needs.
#define BENCH_HAND(data, adjoint)                                                                                       \
    static void bench_hand(struct bench_point *point, double *gradient)                                                 \
    {                                                                                                                  \
        memset(gradient, 0, sizeof(double) * point->count);                                                            \
        adjoint((const data *)point, gradient);                                                                        \
    }                                                                                                                  \
    static double bench_hand_value(struct bench_point *point, double *gradient)                                        \
    {                                                                                                                  \
        memset(gradient, 0, sizeof(double) * point->count);                                                            \
        return adjoint((const data *)point, gradient);                                                                 \
    }

// The kernel, from functions of the usual names and sizes. -DBENCH_GRADIENT_ALONE leaves out the second marker call: what the
// compiler is timed on, and what the size of the derivative is taken from.
#ifdef BENCH_GRADIENT_ALONE
#define BENCH_VALUE_GRADIENT NULL
#else
#define BENCH_VALUE_GRADIENT bench_value_gradient
#endif
#define BENCH_FUNCTIONS                                                                                                 \
    .setup = bench_setup, .primal = bench_primal, .gradient = bench_gradient, .value_gradient = BENCH_VALUE_GRADIENT,   \
    .hand = bench_hand, .hand_value = bench_hand_value

#endif
