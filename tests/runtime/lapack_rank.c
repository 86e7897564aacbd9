// aborts[E0201]: least squares by a matrix without full rank, whose solution has no derivative
// after: full rank
#include <lapacke.h>
#include <stdio.h>

extern int enzyme_dup;
extern void __enzyme_autodiff(void *, ...);

static double fitted(const double *x)
{
    double a[6], b[3] = {x[0], x[1], 1.0}, s[2], work[256], least = -1.0;
    int m = 3, n = 2, one = 1, rank, room = 256, wholes[64], info;
    for (int i = 0; i < 3; i++) {
        a[i] = x[i];
        a[i + 3] = x[3] * x[i] + x[4] * i;
    }
    LAPACK_dgelsd(&m, &n, &one, a, &m, b, &m, s, &least, &rank, work, &room, wholes, &info);
    return b[0] + b[1];
}

int main(void)
{
    double x[5] = {1.0, 2.0, 4.0, 3.0, 1.0}, dx[5] = {0.0};
    __enzyme_autodiff((void *)fitted, enzyme_dup, x, dx);
    fprintf(stderr, "full rank\n");
    x[4] = 0.0;
    __enzyme_autodiff((void *)fitted, enzyme_dup, x, dx);
    return 2;
}
