// A queue of records that are moved as bytes by code that knows neither their type nor their size: statements of types where the bytes are
// meant to be numbers, in each of the forms that a program may write.
#include "corpus.h"

enum { COUNT = 4, SIZE = 3 * COUNT };

extern void __enzyme_double(void *, ...);
extern void __enzyme_integer(void *, unsigned long);

static double point[SIZE];

// Without the statement nothing would say what is copied: E0301.
__attribute__((noinline)) static void move(void *to, void *from, unsigned long bytes)
{
    __enzyme_double(from, bytes);
    memcpy(to, from, bytes);
}

__attribute__((noinline)) static void move_one(void *to, void *from)
{
    __enzyme_double(from);
    memcpy(to, from, 8);
}

static void queue(void *out, void *in, unsigned long *order)
{
    __enzyme_integer(order, 8);
    for (int i = 0; i < COUNT; i++) {
        if (i % 2)
            move((char *)out + 24 * order[i], (char *)in + 24 * i, 24);
        else
            for (int k = 0; k < 3; k++)
                move_one((char *)out + 24 * order[i] + 8 * k, (char *)in + 24 * i + 8 * k);
    }
}

static double weights(const double *records)
{
    double sum = 0.0;
    for (int i = 0; i < SIZE; i++)
        sum += records[i] * records[i] * (i + 1);
    return sum;
}

static unsigned long order[COUNT] = {2, 0, 3, 1};

static double value(const double *x)
{
    double in[SIZE], out[SIZE];
    corpus_copy(in, x, SIZE);
    queue(out, in, order);
    return weights(out);
}

static void setup(void)
{
    corpus_seed(67);
    corpus_fill(point, SIZE, -1.0, 1.0);
}

static double tangent(const double *x, const double *v)
{
    return __enzyme_fwddiff((void *)value, enzyme_dup, x, v);
}

static void gradient(const double *x, double *g)
{
    corpus_zero(g, SIZE);
    __enzyme_autodiff_void((void *)value, enzyme_dup, x, g);
}

// The copy alone: nothing but the statement tells the type.
static void alone(const double *x, double *g)
{
    double in[SIZE], out[SIZE], seed[SIZE];
    corpus_copy(in, x, SIZE);
    corpus_zero(g, SIZE);
    queue(out, in, order);
    for (int i = 0; i < SIZE; i++)
        seed[i] = 2.0 * out[i] * (i + 1);
    __enzyme_autodiff_void((void *)queue, enzyme_dup, out, seed, enzyme_dup, in, g, enzyme_const, order);
}

static const struct corpus_problem problem = {
    .name = "stated_types",
    .size = SIZE,
    .point = point,
    .setup = setup,
    .value = value,
    .tangent = tangent,
    .gradient = gradient,
    .variants = {{.name = "the copy alone", .gradient = alone}},
};

CORPUS_MAIN(&problem)
