// aborts[E0301]: tangents of doubles that are rounded by way of their bits, in a function where nothing says that they are doubles
// levels: O2 O3
#include <stdint.h>
#include <string.h>

extern double __enzyme_fwddiff(void *, const double *, double *);

enum { COUNT = 4 };

static void move(void *to, const void *from, unsigned long bytes)
{
    memcpy(to, from, bytes);
}

__attribute__((noinline)) static void round_all(const double *x, double *rounded)
{
    for (int i = 0; i < COUNT; i++) {
        uint64_t bits;
        move(&bits, &x[i], sizeof bits);
        bits = (bits + 0x2000000) & 0xfffffffffc000000;
        move(&rounded[i], &bits, sizeof bits);
    }
}

static double energy(const double *x)
{
    double rounded[COUNT], sum = 0.0;
    round_all(x, rounded);
    for (int i = 0; i < COUNT; i++)
        sum += rounded[i] * rounded[i];
    return sum;
}

int main(void)
{
    double x[COUNT] = {1.0, 2.0, 3.0, 4.0}, dx[COUNT] = {0.0, 1.0};
    double slope = __enzyme_fwddiff((void *)energy, x, dx);
    return slope != 4.0;
}
