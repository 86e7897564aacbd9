// Floats at odd addresses: fields of packed structures, and numbers put into and taken out of a byte stream by memcpy,
// mempcpy, memmove and bcopy.
#define _GNU_SOURCE
#include "corpus.h"

#include <strings.h>

enum { SIZE = CORPUS_SIZE(24, 6) };

#pragma pack(push, 1)
struct record {
    char tag;
    double weight;
    short id;
    double value;
};
#pragma pack(pop)

static double packed(const double *x, int n)
{
    struct record records[SIZE];
    double sum = 0.0;
    for (int i = 0; i < n; i++) {
        records[i].tag = (char)i;
        records[i].weight = x[i] * x[i];
        records[i].id = (short)(n - 1 - i);
        records[i].value = x[i] + (i ? records[i - 1].value * 0.5 : 0.0);
    }
    for (int i = 0; i < n; i++)
        sum += records[i].weight * records[records[i].id].value * (1 + records[i].tag);
    return sum;
}

static double stream(const double *x, int n)
{
    char bytes[8 * SIZE + 1], *end = bytes + 1;
    for (int i = 0; i < n; i++) {
        double number = x[i] * x[(i + 1) % n];
        end = mempcpy(end, &number, sizeof number);
    }
    memmove(bytes + 1 + 8, bytes + 1, (size_t)(n - 1) * 8);
    double sum = 0.0, number;
    for (int i = 0; i < n; i++) {
        bcopy(bytes + 1 + 8 * i, &number, sizeof number);
        sum += number * number * (i + 1);
    }
    return sum;
}

static double misaligned_loss(const double *x, int n)
{
    return packed(x, n) + stream(x, n);
}

static double point[SIZE];

static void setup(void)
{
    corpus_seed(7);
    corpus_fill(point, SIZE, 0.3, 0.9);
}

static double value(const double *x)
{
    return misaligned_loss(x, SIZE);
}

static double tangent(const double *x, const double *v)
{
    return __enzyme_fwddiff((void *)misaligned_loss, enzyme_dup, x, v, enzyme_const, SIZE);
}

static void gradient(const double *x, double *g)
{
    corpus_zero(g, SIZE);
    __enzyme_autodiff((void *)misaligned_loss, enzyme_dup, x, g, enzyme_const, SIZE);
}

static const struct corpus_problem problem = {
    .name = "memory_misaligned",
    .size = SIZE,
    .point = point,
    .setup = setup,
    .value = value,
    .tangent = tangent,
    .gradient = gradient,
};

CORPUS_MAIN(&problem)
