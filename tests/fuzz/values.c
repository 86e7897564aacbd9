// What the interpreter runs instead of check.c: the gradients of generated programs at one point, and nothing that needs signals,
// clocks or wrapped allocation. The point is check.c's first, so the numbers must be those that native code prints there.
// Included before the generated programs. Not handled: the second point, forward mode; differences are left to native code.
#include <stdint.h>
#include <stdio.h>

#include "check.h"

static uint64_t values_state;

static double values_uniform(double low, double high)
{
    values_state = values_state * 6364136223846793005u + 1442695040888963407u;
    return low + (high - low) * ((double)(values_state >> 11) * 0x1p-53);
}

static void values_of(const struct fuzz_case *tested)
{
    double x[FUZZ_INPUTS], copy[FUZZ_INPUTS], gradient[FUZZ_INPUTS], weights[FUZZ_MEMORY];
    values_state = (uint64_t)tested->id * 2862933555777941757u + 3037000493u;
    values_uniform(0.0, 1.0);
    for (int i = 0; i < FUZZ_INPUTS; i++)
        x[i] = values_uniform(-1.0, 1.0);
    for (int i = 0; i < FUZZ_MEMORY; i++)
        weights[i] = values_uniform(-0.5, 0.5);
    printf("BEGIN %d\n", tested->id);
    memcpy(copy, x, sizeof copy);
    double value = tested->value(copy, 3);
    for (int i = 0; i < FUZZ_MEMORY; i++)
        value += weights[i] * copy[i];
    printf("DERIVATIVES %d\n", tested->id);
    memcpy(copy, x, sizeof copy);
    memcpy(gradient, weights, sizeof weights);
    gradient[FUZZ_MEMORY] = 0.0;
    tested->gradient(copy, gradient, 3);
    printf("VALUES %d 0 %d %.17g", tested->id, tested->floats, value);
    for (int i = 0; i < FUZZ_INPUTS; i++)
        printf(" %.17g", gradient[i]);
    printf("\nOK %d\n", tested->id);
}

int main(int argc, char **argv)
{
    for (int i = argc > 1 ? atoi(argv[1]) : 0; i < fuzz_count; i++)
        values_of(&fuzz_cases[i]);
    printf("DONE\n");
    return 0;
}
