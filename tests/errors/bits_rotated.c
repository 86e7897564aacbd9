// error[E0205]: bits of floats are rotated on their way through arrays of integers, of which nobody knows that they are such
#include <stdint.h>
#include <string.h>

extern void __enzyme_autodiff(void *, const double *, double *);

enum { COUNT = 4 };

__attribute__((noinline)) static void encode(uint64_t *to, const uint64_t *from, long count)
{
    for (long i = 0; i < count; i++)
        to[i] = from[i] << 7 | from[i] >> 57;
}

__attribute__((noinline)) static void turn(uint64_t *to, const uint64_t *from, long count)
{
    for (long i = 0; i < count; i++)
        to[i] = from[count - 1 - i];
}

__attribute__((noinline)) static void decode(uint64_t *to, const uint64_t *from, long count)
{
    for (long i = 0; i < count; i++)
        to[i] = from[i] >> 7 | from[i] << 57;
}

static double energy(const double *x)
{
    uint64_t plain[COUNT], encoded[COUNT], turned[COUNT], decoded[COUNT];
    double y[COUNT], sum = 0.0;
    memcpy(plain, x, sizeof plain);
    encode(encoded, plain, COUNT);
    turn(turned, encoded, COUNT);
    decode(decoded, turned, COUNT);
    memcpy(y, decoded, sizeof y);
    for (int i = 0; i < COUNT; i++)
        sum += y[i] * y[i] * (i + 1);
    return sum;
}

void gradient(const double *x, double *d_x)
{
    __enzyme_autodiff((void *)energy, x, d_x);
}
