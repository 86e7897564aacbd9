// error[E0205]: the reciprocal square root by arithmetic on the bits of an active float
#include <string.h>

extern float __enzyme_autodiff_float(void *, float);

static float reciprocal_root(float x)
{
    float half = 0.5f * x, y;
    int bits;
    memcpy(&bits, &x, sizeof(bits));
    bits = 0x5f3759df - (bits >> 1); // refused here
    memcpy(&y, &bits, sizeof(y));
    return y * (1.5f - half * y * y);
}

float gradient(float x)
{
    return __enzyme_autodiff_float((void *)reciprocal_root, x);
}
