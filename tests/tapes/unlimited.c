// Loops that no limit holds for, as buffers change places only now and then, or in steps whose number takes more than 64 bits;
// and one that keeps nothing.
#include "../corpus/corpus.h"

static double march(double *restrict u, double *restrict v, int n, int steps)
{
    double *now = u, *next = v, sum = 0.0;
    for (int t = 0; t < steps; t++) { // warned of: it carries a pointer
        for (int i = 0; i < n; i++)
            next[i] = now[i] + 0.1 * sin(now[i]);
        if (next[0] > 0.5) {
            double *spare = now;
            now = next;
            next = spare;
        }
    }
    for (int t = 0; t < steps; t++)
        for (int i = 0; i < n; i++)
            sum += now[i] * t;
    return sum;
}

static double wide(double *restrict u, double *restrict v, int n, __int128 steps)
{
    double *now = u, *next = v, sum = 0.0;
    for (__int128 t = 0; t < steps; t++) { // warned of: the extent of what it writes
        for (int i = 0; i < n; i++)
            next[i] = now[i] + 0.1 * sin(now[i]);
        double *spare = now;
        now = next;
        next = spare;
    }
    for (int i = 0; i < n; i++)
        sum += now[i];
    return sum;
}

static double wide_of(double *restrict u, double *restrict v, int n, int steps)
{
    return wide(u, v, n, steps);
}

void gradient(double *u, double *du, double *v, double *dv, int n, int steps)
{
    __enzyme_autodiff((void *)march, enzyme_dup, u, du, enzyme_dup, v, dv, n, steps, enzyme_max_tape, (size_t)1 << 20);
    __enzyme_autodiff((void *)wide_of, enzyme_dup, u, du, enzyme_dup, v, dv, n, steps, enzyme_max_tape, (size_t)1 << 20);
}
