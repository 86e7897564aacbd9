// error[E0205]: a series of floats is kept as differences of their bits, which another function sums up again
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

extern void __enzyme_autodiff(void *, double *, double *, int);

__attribute__((noinline)) static void compress(const double *x, uint64_t *words, int n)
{
    uint64_t last = 0;
    for (int i = 0; i < n; i++) {
        uint64_t bits;
        memcpy(&bits, &x[i], sizeof bits);
        words[i] = bits - last;
        last = bits;
    }
}

__attribute__((noinline)) static void expand(const uint64_t *words, double *x, int n)
{
    uint64_t bits = 0;
    for (int i = 0; i < n; i++) {
        bits += words[i];
        memcpy(&x[i], &bits, sizeof bits);
    }
}

static double energy(const double *x, int n)
{
    uint64_t *words = malloc((size_t)n * sizeof *words);
    double *y = malloc((size_t)n * sizeof *y), sum = 0.0;
    compress(x, words, n); // refused here
    expand(words, y, n);
    for (int i = 0; i < n; i++)
        sum += y[i] * y[i];
    free(y);
    free(words);
    return sum;
}

void gradient(double *x, double *dx, int n)
{
    __enzyme_autodiff((void *)energy, x, dx, n);
}
