// error[E0205]: "bits of active floats"
// A message buffer: numbers are written byte by byte by one function, and read by another.
#include <stdint.h>
#include <string.h>

double __enzyme_autodiff(void *, ...);

__attribute__((noinline)) static void put(unsigned char *to, double x)
{
    uint64_t u;
    memcpy(&u, &x, sizeof u);
    for (int k = 0; k < 8; k++)
        to[k] = (unsigned char)(u >> (8 * k));
}

__attribute__((noinline)) static double get(const unsigned char *from)
{
    uint64_t u = 0;
    double x;
    for (int k = 0; k < 8; k++)
        u |= (uint64_t)from[k] << (8 * k);
    memcpy(&x, &u, sizeof x);
    return x;
}

static double f(double x)
{
    unsigned char message[16];
    put(message, x);
    put(message + 8, x * x);
    return get(message) * get(message + 8);
}

double gradient(double x) { return __enzyme_autodiff((void *)f, x); }
