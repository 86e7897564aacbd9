// aborts[E0301]: bits of floats are turned on their way to another array, in a function to which both are integers
// levels: O1 O2 O3
#include <stdlib.h>

extern float __enzyme_autodiff(void *, const float *, float *);

enum { COUNT = 4 };

__attribute__((noinline)) static void turn(unsigned *to, const unsigned *from, int count)
{
    for (int i = 0; i < count; i++)
        to[i] = from[i] ^ 0x50000000;
}

static float energy(const float *x)
{
    float *kept = malloc(COUNT * sizeof *kept), sum = 0.0f;
    turn((unsigned *)kept, (const unsigned *)x, COUNT);
    for (int i = 0; i < COUNT; i++)
        sum += kept[i];
    free(kept);
    return sum;
}

int main(void)
{
    float x[COUNT] = {1.0f, 2.0f, 3.0f, 4.0f}, dx[COUNT] = {0.0f};
    __enzyme_autodiff((void *)energy, x, dx);
    return dx[1] != 0.0f;
}
