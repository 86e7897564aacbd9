// error[E0205]: floats are kept with sixteen bits each, in memory of integers
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

extern void __enzyme_autodiff(void *, float *, float *, int);

static float squares(const float *x, int n)
{
    uint16_t *kept = malloc((size_t)n * sizeof *kept);
    float sum = 0.0f;
    for (int i = 0; i < n; i++) {
        uint32_t bits;
        float y = 2.0f * x[i];
        memcpy(&bits, &y, sizeof bits); // refused here
        kept[i] = (uint16_t)((bits + 0x8000u) >> 16);
    }
    for (int i = 0; i < n; i++) {
        uint32_t bits = (uint32_t)kept[i] << 16;
        float y;
        memcpy(&y, &bits, sizeof y);
        sum += y * y;
    }
    free(kept);
    return sum;
}

void gradient(float *x, float *dx, int n)
{
    __enzyme_autodiff((void *)squares, x, dx, n);
}
