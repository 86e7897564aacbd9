// Storage of vectors that may be kept in another format, which no part of the program ever asks for.
#define _GNU_SOURCE
#include "store.h"

#include <stdlib.h>
#include <string.h>

int store_scrambled = 0;

double *store_copy(const double *x, int n)
{
    double *copy = (double *)malloc((size_t)n * sizeof(double));
    if (!copy)
        return 0;
    memcpy(copy, x, (size_t)n * sizeof(double));
    if (store_scrambled)
        memfrob(copy, (size_t)n * sizeof(double));
    return copy;
}
