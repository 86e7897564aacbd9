// Counts what a gradient takes from malloc where calls stay calls: each keeps a tape, stack slots and rows of loops
// with few iterations, which are cut from chunks. The number of chunks grows with the logarithm of what is kept: 20 are
// more than enough for 5,000 calls.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

extern void __enzyme_autodiff(void *function, ...);
extern int enzyme_dup;

extern void *__libc_malloc(size_t bytes);
extern void *__libc_realloc(void *memory, size_t bytes);
static long taken;

void *malloc(size_t bytes)
{
    taken++;
    return __libc_malloc(bytes);
}

void *realloc(void *memory, size_t bytes)
{
    taken++;
    return __libc_realloc(memory, bytes);
}

__attribute__((noinline)) static double root(double a, double *steps)
{
    double last[2] = {1.0, a};
    while (fabs(last[0] * last[0] - a) > 1e-12) {
        last[1] = last[0];
        last[0] = 0.5 * (last[0] + a / last[0]);
        *steps += last[1];
    }
    return last[0];
}

__attribute__((noinline)) static double walk(const double *x, int depth, double *steps)
{
    double here = root(x[depth % 2] + depth, steps);
    return depth == 0 ? here : here + 0.5 * walk(x, depth - 1, steps) + 0.1 * walk(x, depth - 1, steps);
}

static double walked(const double *x)
{
    double steps = 0.0;
    return walk(x, 10, &steps) + 1e-3 * steps;
}

int main(void)
{
    double x[2] = {1.3, 0.7}, g[2] = {0.0, 0.0};
    walked(x);
    taken = 0;
    __enzyme_autodiff((void *)walked, enzyme_dup, x, g);
    long of_gradient = taken;
    for (int i = 0; i < 2; i++) {
        double h = 1e-5, ahead[2] = {x[0], x[1]}, behind[2] = {x[0], x[1]};
        ahead[i] += h;
        behind[i] -= h;
        double difference = (walked(ahead) - walked(behind)) / (2.0 * h);
        // Central differences of a smooth function: an error of h^2, and rounding over h.
        if (!(fabs(difference - g[i]) < 1e-7 * fabs(g[i])))
            return printf("%d: %.17g instead of %.17g\n", i, g[i], difference), 1;
    }
    if (of_gradient > 20)
        return printf("%ld pieces of memory\n", of_gradient), 1;
    puts("ok");
    return 0;
}
