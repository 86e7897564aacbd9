// aborts[E0301]: what was computed with as an integer has a derivative
// levels: O0 O1
// Records with the bytes of a float, masked byte by byte and put together again. Nobody reads the floats as such before
// that.
#include <stdio.h>
#include <string.h>

extern int enzyme_dup;
extern void __enzyme_autodiff(void *, ...);

enum { N = 4 };

static double squares(const double *x)
{
    struct {
        unsigned char bytes[8];
        int place;
    } records[N];
    double sum = 0.0;
    for (int i = 0; i < N; i++) {
        memcpy(records[i].bytes, &x[i], sizeof x[i]);
        records[i].place = i;
    }
    for (int i = 0; i < N; i++) {
        unsigned char plain[8];
        double y;
        for (int k = 0; k < 8; k++)
            plain[k] = records[N - 1 - i].bytes[k] ^ 0x55;
        for (int k = 0; k < 8; k++)
            plain[k] ^= 0x55;
        memcpy(&y, plain, sizeof y);
        sum += y * y * records[i].place;
    }
    return sum;
}

int main(void)
{
    double x[N] = {1.3, 2.7, 1.1, 5.5}, g[N] = {0.0};
    __enzyme_autodiff((void *)squares, enzyme_dup, x, g);
    printf("%g\n", g[0]);
}
