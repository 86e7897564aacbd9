// A stack machine that evaluates byte code by computed gotos (a GNU extension): labels as values in a constant table, and
// in a table on the stack.
#include "corpus.h"

#ifdef __clang__
#pragma clang diagnostic ignored "-Wgnu-label-as-value"
#endif

enum { PUSH, ADD, MULTIPLY, SINE, DUPLICATE, STORE, LOOP, HALT };

static const signed char program[] = {
    PUSH, 0, PUSH, 1, MULTIPLY, PUSH, 2, ADD, STORE,   // x0 x1 + x2, to the sum
    DUPLICATE, SINE, ADD, PUSH, 3, MULTIPLY,           // (t + sin t) x3
    LOOP, -9,                                          // from STORE, while there are turns left
    HALT,
};

enum { SIZE = 4, DEPTH = 8 };
static const double point[SIZE] = {0.8, -0.6, 1.3, 0.45};

static double run(const double *x, int turns)
{
    static const void *const places[] = {&&push, &&add, &&multiply, &&sine, &&duplicate, &&store, &&loop, &&halt};
    double stack[DEPTH], sum = 0.0;
    int top = 0;
    const signed char *at = program;
#define NEXT goto *places[(int)*at++]
    NEXT;
push:
    stack[top++] = x[(int)*at++];
    NEXT;
add:
    top--;
    stack[top - 1] += stack[top];
    NEXT;
multiply:
    top--;
    stack[top - 1] *= stack[top];
    NEXT;
sine:
    stack[top - 1] = sin(stack[top - 1]);
    NEXT;
duplicate:
    stack[top] = stack[top - 1];
    top++;
    NEXT;
store:
    sum += stack[top - 1] * stack[top - 1];
    NEXT;
loop:
    at += turns-- > 0 ? *at + 1 : 1;
    NEXT;
halt:
    return sum + stack[0];
}

// The next state depends on the data.
static double states(const double *x, int n)
{
    const void *table[] = {&&low, &&middle, &&high};
    double s = 0.3;
    int i = 0;
    goto *table[1];
low:
    s = 2.0 * s + x[i % SIZE] * x[i % SIZE];
    if (++i < n)
        goto *table[s > 0.5 ? 1 : 2];
    return s;
middle:
    s = sin(s) * x[i % SIZE];
    if (++i < n)
        goto *table[(i * i) % 3];
    return s * s;
high:
    s += x[i % SIZE];
    if (++i < n)
        goto *table[s < 0.0 ? 0 : i % 2];
    return s + 1.0;
}

// Called by its derivative only: its body, whose labels the table names, is needed all the same.
static double alone(double x, const unsigned char *steps)
{
    static const void *const places[] = {&&square, &&sine, &&end};
    goto *places[*steps++];
square:
    x *= x;
    goto *places[*steps++];
sine:
    x = sin(x);
    goto *places[*steps++];
end:
    return x;
}

static int extra(void)
{
    static const unsigned char steps[] = {0, 1, 0, 2};
    double x = 0.7, expected = 2.0 * sin(x * x) * cos(x * x) * 2.0 * x;
    double error = corpus_relative(__enzyme_autodiff((void *)alone, enzyme_out, x, enzyme_const, steps), expected, 1.0);
    return corpus_check("control_computed_goto", "a function that is not called", CORPUS_HAS_AD ? error : 0.0, 1e-14);
}

static double all(const double *x)
{
    double s = 0.0;
    for (int n = 0; n < 12; n++)
        s += run(x, n) + states(x, n);
    return s;
}

static double tangent(const double *x, const double *v)
{
    return __enzyme_fwddiff((void *)all, enzyme_dup, x, v);
}

static void gradient(const double *x, double *g)
{
    corpus_zero(g, SIZE);
    __enzyme_autodiff_void((void *)all, enzyme_dup, x, g);
}

static const struct corpus_problem problem = {
    .name = "control_computed_goto",
    .size = SIZE,
    .point = point,
    .value = all,
    .tangent = tangent,
    .gradient = gradient,
    .extra = extra,
    .coordinates = CORPUS_ALL,
    .step = 0x1p-12, // small enough that every branch stays the same
};

CORPUS_MAIN(&problem)
