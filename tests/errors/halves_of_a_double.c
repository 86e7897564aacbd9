// error[E0205]: doubles kept as two halves in integers, and put together again
#include <stdint.h>
#include <string.h>

extern double __enzyme_autodiff(void *, ...);

struct halves {
    uint32_t low, high;
};

static double joined(const double *x, int n)
{
    struct halves kept[8];
    double sum = 0.0;
    for (int i = 0; i < n; i++) {
        uint64_t bits;
        memcpy(&bits, &x[i], sizeof(bits));
        kept[i].low = (uint32_t)bits; // refused here
        kept[i].high = (uint32_t)(bits >> 32);
    }
    for (int i = 0; i < n; i++) {
        uint64_t bits = (uint64_t)kept[n - 1 - i].high << 32 | kept[n - 1 - i].low;
        double value;
        memcpy(&value, &bits, sizeof(value));
        sum += value * (i + 1);
    }
    return sum;
}

void gradient(const double *x, double *dx, int n)
{
    __enzyme_autodiff((void *)joined, x, dx, n);
}
