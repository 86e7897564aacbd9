// corpus: native
// corpus: stdout right seen right
// Eigenvalues that are equal, by LAPACK: their sum has its derivative; a second derivative that parts them is so large that it is seen,
// one that does not is right. And singular vectors of one side of a matrix with many more rows than columns.
#include <lapacke.h>
#include <math.h>
#include <stdio.h>

extern double __enzyme_fwddiff(void *, ...);

enum { ROWS = 100000 };

static double cubes(double on, double beside, double t)
{
    double a[9] = {2.0 + on * t, beside * t, 0.0, beside * t, 2.0 - on * t * t, 0.0, 0.0, 0.0, 3.0 + t}, w[3], work[96];
    int n = 3, room = 96, info;
    LAPACK_dsyev("N", "L", &n, a, &n, w, work, &room, &info);
    return w[0] * w[0] * w[0] + w[1] * w[1] * w[1] + w[2];
}

static double parted(double t) { return cubes(0.0, 1.0, t); }
static double parted_once(double t) { return __enzyme_fwddiff((void *)parted, t, 1.0); }
static double kept(double t) { return cubes(1.0, 0.0, t); }
static double kept_once(double t) { return __enzyme_fwddiff((void *)kept, t, 1.0); }

static double tall(double t)
{
    static double a[2 * ROWS], u[2 * ROWS];
    double s[2], v[1], rest[2];
    for (int i = 0; i < 2 * ROWS; i++)
        a[i] = sin(i) + t * (i % 3);
    LAPACKE_dgesvd(LAPACK_COL_MAJOR, 'S', 'N', ROWS, 2, a, ROWS, s, u, ROWS, v, 1, rest);
    return s[0] + 100.0 * u[5];
}

// Differences of the second order with h = 1e-4: errors of h^2 and of 1e-16 / h, relative to the value.
static int is_right(double derivative, double plus, double minus)
{
    double difference = (plus - minus) / 2e-4;
    return fabs(derivative - difference) <= 1e-6 * fabs(difference);
}

int main(void)
{
    double first = parted_once(0.0), second = __enzyme_fwddiff((void *)kept_once, 0.0, 1.0);
    int sums = first == 1.0 && is_right(second, kept_once(1e-4), kept_once(-1e-4));
    int parts = fabs(__enzyme_fwddiff((void *)parted_once, 0.0, 1.0)) > 1e290;
    int vectors = is_right(__enzyme_fwddiff((void *)tall, 0.3, 1.0), tall(0.3001), tall(0.2999));
    printf("%s %s %s\n", sums ? "right" : "wrong", parts ? "seen" : "silent", vectors ? "right" : "wrong");
    return 0;
}
