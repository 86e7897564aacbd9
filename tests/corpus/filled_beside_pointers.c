// An array of the caller's that is set to zero, and that a table of pointers joins with a local structure: where the array has
// a number, the structure has a pointer, as far as anyone can tell who does not run the program. loss = what is left of the
// array, and of the rows of the table.
#include "corpus.h"

#include <math.h>
#include <string.h>

enum { N = 8, SIZE = 2 * N };

struct fields {
    struct {
        double first;
        int tag;
        double last;
    } ends;
    double values[4];
    int count;
    double weight;
    double *other;
};

struct args {
    int n;
    double *a, *b;
};

static double loss(struct args *args)
{
    double *a = args->a, *b = args->b, half[4] = {0.5, 0.5, 0.5, 0.5}, sum = 0.0;
    struct fields local = {{0.5, 7, 0.5}, {0.5, 0.5, 0.5}, args->n & 15, 0.5, half};
    memset(a, 0, 7 * sizeof(double));
    double *rows[4] = {b + 1, a + ((int)(3.0 * fabs(0.3)) & 3), local.values, a};
    for (int i = 0; i < N; i++)
        sum += (0.3 + 0.1 * i) * a[i] * b[i];
    for (int i = 0; i < 4; i++)
        sum += (0.41 - 0.1 * i) * rows[i][i] * rows[i][i];
    return sum;
}

static double point[SIZE], work[SIZE], shadow[SIZE];

static void setup(void)
{
    corpus_seed(97);
    corpus_fill(point, SIZE, -1.0, 1.0);
}

static double value(const double *x)
{
    corpus_copy(work, x, SIZE);
    struct args args = {N, work, work + N};
    return loss(&args);
}

static double tangent(const double *x, const double *v)
{
    corpus_copy(work, x, SIZE);
    corpus_copy(shadow, v, SIZE);
    struct args args = {N, work, work + N}, tangents = {N, shadow, shadow + N};
    return __enzyme_fwddiff((void *)loss, enzyme_dup, &args, &tangents);
}

static void gradient(const double *x, double *g)
{
    corpus_copy(work, x, SIZE);
    corpus_zero(g, SIZE);
    struct args args = {N, work, work + N}, adjoints = {N, g, g + N};
    __enzyme_autodiff((void *)loss, enzyme_dup, &args, &adjoints);
}

static const struct corpus_problem problem = {
    .name = "filled_beside_pointers",
    .size = SIZE,
    .point = point,
    .setup = setup,
    .value = value,
    .tangent = tangent,
    .gradient = gradient,
};

CORPUS_MAIN(&problem)
