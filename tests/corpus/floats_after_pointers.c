// A table of slots that hold now a pointer, now two floats: first where a number comes from, then the number and its
// square, in turns. What the pointer's shadow was is no adjoint of the floats that take its place.
//
//   sum over the turns of (number + square) * weight
#include "corpus.h"

union slot {
    const double *from;
    float number[2];
};

struct table {
    union slot slots[4];
};

__attribute__((noinline)) static void point_to(struct table *t, int i, const double *from)
{
    t->slots[i].from = from;
}

__attribute__((noinline)) static double follow(const struct table *t, int i)
{
    return *t->slots[i].from;
}

__attribute__((noinline)) static void fill(struct table *t, int i, float number)
{
    t->slots[i].number[0] = number;
    t->slots[i].number[1] = number * number;
}

__attribute__((noinline)) static double total(const struct table *t, int i)
{
    return t->slots[i].number[0] + t->slots[i].number[1];
}

static double turns(const double *x, int count)
{
    struct table *t = malloc(sizeof(*t));
    double sum = 0.0;
    for (int n = 0; n < 2 * count; n++) {
        point_to(t, n & 3, x + n % count);
        double number = follow(t, n & 3);
        fill(t, n & 3, (float)(number * x[0]));
        sum += total(t, n & 3) * x[(n + 1) % count];
    }
    free(t);
    return sum;
}

enum { SIZE = CORPUS_SIZE(100, 7) };

static double point[SIZE];

static void setup(void)
{
    corpus_seed(127);
    corpus_fill(point, SIZE, 0.2, 0.9);
}

static double value(const double *x)
{
    return turns(x, SIZE);
}

static double tangent(const double *x, const double *v)
{
    return __enzyme_fwddiff((void *)turns, enzyme_dup, x, v, enzyme_const, SIZE);
}

static void gradient(const double *x, double *g)
{
    corpus_zero(g, SIZE);
    __enzyme_autodiff((void *)turns, enzyme_dup, x, g, enzyme_const, SIZE);
}

static const struct corpus_problem problem = {
    .name = "floats_after_pointers",
    .size = SIZE,
    .point = point,
    .setup = setup,
    .value = value,
    .tangent = tangent,
    .gradient = gradient,
    .fd_tolerance = 1e-2, // its numbers are rounded to single precision
    .dot_tolerance = 1e-5,
};

CORPUS_MAIN(&problem)
