// error[E0205]: floats are sorted by integer keys, which one function makes and another takes back
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

extern void __enzyme_autodiff(void *, double *, double *, int);

__attribute__((noinline)) static void keys_of(const double *x, uint64_t *keys, int n)
{
    for (int i = 0; i < n; i++) {
        uint64_t bits;
        memcpy(&bits, &x[i], sizeof bits);
        keys[i] = bits ^ (bits >> 63 ? UINT64_MAX : UINT64_C(1) << 63);
    }
}

__attribute__((noinline)) static void sort_keys(uint64_t *keys, int n)
{
    for (int i = 1; i < n; i++) {
        uint64_t key = keys[i];
        int j = i;
        for (; j > 0 && keys[j - 1] > key; j--)
            keys[j] = keys[j - 1];
        keys[j] = key;
    }
}

__attribute__((noinline)) static void floats_of(const uint64_t *keys, double *x, int n)
{
    for (int i = 0; i < n; i++) {
        uint64_t bits = keys[i] ^ (keys[i] >> 63 ? UINT64_C(1) << 63 : UINT64_MAX);
        memcpy(&x[i], &bits, sizeof bits);
    }
}

static double trimmed_squares(const double *x, int n)
{
    uint64_t *keys = malloc((size_t)n * sizeof *keys);
    double *sorted = malloc((size_t)n * sizeof *sorted), sum = 0.0;
    keys_of(x, keys, n); // refused here
    sort_keys(keys, n);
    floats_of(keys, sorted, n);
    for (int i = 1; i < n - 1; i++)
        sum += sorted[i] * sorted[i];
    free(sorted);
    free(keys);
    return sum;
}

void gradient(double *x, double *dx, int n)
{
    __enzyme_autodiff((void *)trimmed_squares, x, dx, n);
}
