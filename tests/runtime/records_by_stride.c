// aborts[E0301]: what was taken for floats is an address
// levels: O1 O2 O3
// Records of a number or an address, that are copied by the type of the number, beside a flag which another function
// reads in steps whose length it is given: of no byte it is known that it isn't a flag.
#include <math.h>
#include <stdbool.h>
#include <stdio.h>

extern double __enzyme_autodiff(void *, ...);

typedef struct {
    bool boxed;
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
            next.boxed = false;
            next.number = sin(x[t % n]);
        } else if (t % 3 == 1) {
            next.boxed = true;
            next.box = x + t % n;
        } else {
            next = records[(t * 3 + 1) % 8];
        }
        records[t * 5 % 8] = next;
    }
    return total((const char *)records, (long)sizeof(record) * (n > 0), 8);
}

int main(void)
{
    double x[5] = {0.3, 0.7, 1.1, 0.2, 0.9}, g[5] = {0.0};
    __enzyme_autodiff((void *)mixed_records, x, g, 5);
    printf("%g\n", g[0]);
}
