// Records of a number or a pointer that are copied by the type of the number, and that another function reads in steps
// whose length it is given.
#include "corpus.h"

typedef struct {
    long boxed;
    union {
        double number;
        const double *box;
    };
} record;

__attribute__((noinline)) static double total(const char *records, long stride, int n)
{
    double sum = 0.0;
    for (int i = 0; i < n; i++) {
        const record *r = (const record *)(records + i * stride);
        sum += r->boxed ? *r->box * *r->box : r->number;
    }
    return sum;
}

static double mixed_records(const double *x, int n)
{
    record records[8];
    for (int i = 0; i < 8; i++) {
        records[i].boxed = i & 1;
        if (records[i].boxed)
            records[i].box = x + i % n;
        else
            records[i].number = x[i % n] * x[(i + 1) % n];
    }
    for (int t = 0; t < 20; t++) {
        record next;
        if (t % 3 == 0) {
            next.boxed = 0;
            next.number = sin(x[t % n]);
        } else if (t % 3 == 1) {
            next.boxed = 1;
            next.box = x + t % n;
        } else {
            next = records[(t * 3 + 1) % 8];
        }
        records[t * 5 % 8] = next;
    }
    return total((const char *)records, (long)sizeof(record) * (n > 0), 8);
}

enum { N = 5 };
static double point[N] = {0.3, 0.7, 1.1, 0.2, 0.9};

static double value(const double *x)
{
    return mixed_records(x, N);
}

static double tangent(const double *x, const double *v)
{
    return __enzyme_fwddiff((void *)mixed_records, enzyme_dup, x, v, enzyme_const, N);
}

static void gradient(const double *x, double *g)
{
    corpus_zero(g, N);
    __enzyme_autodiff((void *)mixed_records, enzyme_dup, x, g, enzyme_const, N);
}

static const struct corpus_problem problem = {
    .name = "records_by_stride",
    .size = N,
    .point = point,
    .value = value,
    .tangent = tangent,
    .gradient = gradient,
    .coordinates = CORPUS_ALL,
};

CORPUS_MAIN(&problem)
