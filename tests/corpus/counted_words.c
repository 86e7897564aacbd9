// Words that are a number here, a count or an address there, and are moved as they are while something is computed of them that is
// used for counts alone: what is moved keeps its derivative. A function that returns such a word, of a count, returns no number.
//
//   value = sum of sin(number) * weight, count * x, product of the two numbers at an address, all copied once
#include "corpus.h"

enum kind { NUMBER, COUNT, PAIR };

struct value {
    int64_t kind;
    union {
        double number;
        int64_t count;
        double *pair;
    };
};

__attribute__((noinline)) static int64_t copied(const struct value *in, struct value *out, int most)
{
    int64_t word = in->count;
    out->kind = most > 100 ? COUNT : in->kind;
    out->count = most > 100 ? 3 : word;
    return in->kind == COUNT ? word << 3 : 0;
}

__attribute__((noinline)) static int64_t counted(const struct value *in, int depth)
{
    if (depth > 0)
        return counted(in, depth - 1);
    return in->kind == COUNT ? in->count : -1;
}

static double weighed(const struct value *v, double x)
{
    switch (v->kind) {
    case NUMBER: return sin(v->number) * x;
    case COUNT: return (double)v->count * x;
    default: return v->pair[0] * v->pair[1];
    }
}

static double copies_value(const double *x, int count)
{
    struct value *values = malloc((size_t)count * sizeof(*values)), *copies = malloc((size_t)count * sizeof(*copies));
    double *pairs = malloc((size_t)count * 2 * sizeof(*pairs));
    int64_t bytes = 0;
    double sum = 0.0;
    for (int i = 0; i < count; i++) {
        values[i].kind = i % 3;
        pairs[2 * i] = x[i] * 3.0;
        pairs[2 * i + 1] = x[i] * x[(i + 1) % count];
        switch (i % 3) {
        case NUMBER: values[i].number = x[i] * x[i]; break;
        case COUNT: values[i].count = i; break;
        default: values[i].pair = pairs + 2 * i;
        }
    }
    for (int i = 0; i < count; i++)
        bytes += copied(&values[i], &copies[i], i * 7 % 120);
    for (int i = 0; i < count; i++)
        sum += weighed(&copies[i], x[i]) + (double)counted(&copies[i], i % 3) * x[i];
    free(pairs);
    free(copies);
    free(values);
    return sum + (double)bytes;
}

enum { SIZE = CORPUS_SIZE(200, 31) };

static double point[SIZE];

static void setup(void)
{
    corpus_seed(47);
    corpus_fill(point, SIZE, 0.2, 1.4);
}

static double value(const double *x)
{
    return copies_value(x, SIZE);
}

static double tangent(const double *x, const double *v)
{
    return __enzyme_fwddiff((void *)copies_value, enzyme_dup, x, v, enzyme_const, SIZE);
}

static void gradient(const double *x, double *g)
{
    corpus_zero(g, SIZE);
    __enzyme_autodiff((void *)copies_value, enzyme_dup, x, g, enzyme_const, SIZE);
}

static const struct corpus_problem problem = {
    .name = "counted_words",
    .size = SIZE,
    .point = point,
    .setup = setup,
    .value = value,
    .tangent = tangent,
    .gradient = gradient,
};

CORPUS_MAIN(&problem)
