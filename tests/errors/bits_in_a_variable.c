// error[E0205]: the bits of an active float in a variable of their own, which is never read as a float
#include <string.h>

extern float __enzyme_autodiff_float(void *, float);

static float scrambled(float x)
{
    int bits;
    memcpy(&bits, &x, sizeof(bits)), bits = bits * 3 ^ bits; // refused here
    float y;
    memcpy(&y, &bits, sizeof(y));
    return y * (1.5f - 0.5f * x * y * y);
}

float gradient(float x)
{
    return __enzyme_autodiff_float((void *)scrambled, x);
}
