// error[E0205]: floats go through the bytes of a message, most significant first
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

extern void __enzyme_autodiff(void *, double *, double *, int);

struct message {
    int count;
    unsigned char *bytes;
};

__attribute__((noinline)) static void pack(struct message *m, const double *x)
{
    for (int i = 0; i < m->count; i++) {
        uint64_t bits;
        memcpy(&bits, &x[i], sizeof bits);
        for (int k = 0; k < 8; k++)
            m->bytes[8 * i + k] = (unsigned char)(bits >> (56 - 8 * k));
    }
}

__attribute__((noinline)) static void unpack(const struct message *m, double *x)
{
    for (int i = 0; i < m->count; i++) {
        uint64_t bits = 0;
        for (int k = 0; k < 8; k++)
            bits = bits << 8 | m->bytes[8 * i + k];
        memcpy(&x[i], &bits, sizeof bits);
    }
}

static double received(const double *x, int n)
{
    struct message m = {n, malloc(8 * (size_t)n)};
    double *y = malloc((size_t)n * sizeof *y), sum = 0.0;
    pack(&m, x); // refused here
    unpack(&m, y);
    for (int i = 0; i < n; i++)
        sum += y[i] * y[i];
    free(y);
    free(m.bytes);
    return sum;
}

void gradient(double *x, double *dx, int n)
{
    __enzyme_autodiff((void *)received, x, dx, n);
}
