// aborts[E0301]: floats are masked two at a time, as words of 64 bits, and unmasked on their way back
#include <stdlib.h>

extern float __enzyme_fwddiff(void *, const float *, const float *);

enum { COUNT = 4 };

__attribute__((noinline)) static void mask(unsigned long *to, const unsigned long *from, int count)
{
    for (int i = 0; i < count; i++)
        to[i] = ~from[i];
}

static float energy(const float *x)
{
    unsigned long *masked = malloc(COUNT * sizeof *x);
    float *kept = malloc(COUNT * sizeof *kept), sum = 0.0f;
    mask(masked, (const unsigned long *)x, COUNT / 2);
    mask((unsigned long *)kept, masked, COUNT / 2);
    for (int i = 0; i < COUNT; i++)
        sum += kept[i] * kept[i];
    free(kept);
    free(masked);
    return sum;
}

int main(void)
{
    float x[COUNT] = {1.0f, 2.0f, 3.0f, 4.0f}, v[COUNT] = {1.0f};
    return __enzyme_fwddiff((void *)energy, x, v) != 2.0f;
}
