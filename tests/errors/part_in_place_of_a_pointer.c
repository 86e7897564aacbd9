// error[E0203]: "in the place of a pointer"
// A function of the library leaves a number where the caller had an address.
#include <math.h>

extern float __enzyme_autodiff(void *, ...);

union place {
    float *from;
    float value;
};

__attribute__((noinline)) static float fraction(union place *p)
{
    float x = *p->from;
    float part = modff(3.0f * x, &p->value); // refused here
    return x * part * p->value;
}

float gradient(union place *p, union place *dp) { return __enzyme_autodiff((void *)fraction, p, dp); }
