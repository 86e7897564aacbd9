// error[E0205]: the halves of floats in an array of words, and floats of such words
#include <stdint.h>

extern double __enzyme_autodiff(void *, const double *, double *);

union halves {
    double number;
    uint32_t half[2];
};

static double norm(const double *x)
{
    uint32_t words[200];
    double sum = 0.0;
    for (int i = 0; i < 100; i++) {
        union halves from = {.number = x[i]};
        words[2 * i] = from.half[1];
        words[2 * i + 1] = from.half[0];
    }
    for (int i = 0; i < 100; i++) {
        union halves to = {.half = {words[2 * i + 1], words[2 * i]}};
        sum += to.number * to.number;
    }
    return sum;
}

double gradient(const double *x, double *shadow)
{
    return __enzyme_autodiff((void *)norm, x, shadow);
}
