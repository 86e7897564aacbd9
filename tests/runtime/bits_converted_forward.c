// aborts[E0301]: the bits of a float were converted as an integer
// levels: O0 O1
// As bits_converted.c, with floats of one function whose bits are a member of a union, in an array; forward.
#include <stdint.h>
#include <stdio.h>

extern double __enzyme_fwddiff(void *, ...);

union word {
    float number;
    int32_t bits;
};

static double logarithms(double x)
{
    union word words[4];
    float sum = 0.0f;
    for (int i = 0; i < 4; i++)
        words[i].number = (float)x + (float)i;
    for (int i = 0; i < 4; i++)
        sum += (float)words[i].bits * 1.1920928955078125e-7f;
    return sum;
}

int main(void)
{
    printf("%g\n", __enzyme_fwddiff((void *)logarithms, 1.3, 1.0));
}
