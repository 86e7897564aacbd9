// A transport sweep whose helper has `restrict` parameters and keeps addresses into them in a table and a list: the second of two calls has
// these from the first one, so that there its own parameters are not the only way to their memory.
// corpus: valgrind
#include "corpus.h"

enum { N = 8, SIZE = 2 * N };

struct tape_and_value {
    void *tape;
    double value;
};
CORPUS_MARKER(struct tape_and_value, __enzyme_augmentfwd)
CORPUS_MARKER_VOID(__enzyme_reverse_void)

static int which = 1; // not known to the compiler where derivatives are asked for
static double point[SIZE], weights[SIZE]; // of what the sweep leaves in memory

static double squash(double x)
{
    return x / (1.0 + x * x);
}

static double slope(double x, double y)
{
    return 0.25 * (fabs(y) * -x);
}

static double sweep(double *restrict a, double *restrict b, int n)
{
    double sum = 0.0;
    double *rows[4] = {b + 1, a + ((n * n & 15) & 3), a + 1, a + (n & 3)};
    double *from = b, mixed[4] = {squash(-1.43 * from[3]), b[0], 0.21};
    if (rows[n & 3][3] > 0.17)
        memset(a, 0, sizeof(double));
    struct node {
        double value;
        int tag;
        struct node *next;
    } *list = NULL;
    for (int i = 0; i < 4; i++) {
        struct node *fresh = malloc(sizeof *fresh);
        fresh->value = slope(tanh(rows[1][n & 3] * from[1]), rows[1][(atan2(from[1], 3.4) < 0.2 || (n & 3) != 1 ? 1 : i) & 3]);
        fresh->next = list;
        list = fresh;
    }
    for (struct node *at = list; at; at = at->next)
        sum += 0.61 * at->value;
    while (list) {
        struct node *next = list->next;
        free(list);
        list = next;
    }
    for (int j = 0; j < 4; j++)
        sum += 0.47 * from[0] - 0.2 * from[3];
    for (int i = 0; i < 4; i++)
        sum += (0.19 + 0.1 * i) * mixed[i];
    return sum;
}

static void setup(void)
{
    corpus_seed(72);
    which = 1 + (corpus_uniform(0.0, 1.0) > 2.0);
    corpus_fill(point, SIZE, -1.0, 1.0);
    corpus_fill(weights, SIZE, -0.5, 0.5);
}

static double value(const double *x)
{
    double copy[SIZE];
    corpus_copy(copy, x, SIZE);
    double sum = sweep(copy, copy + N, which);
    return sum + corpus_dot(weights, copy, SIZE);
}

static double tangent(const double *x, const double *v)
{
    int n = which;
    double copy[SIZE], direction[SIZE];
    corpus_copy(copy, x, SIZE);
    corpus_copy(direction, v, SIZE);
    double sum = __enzyme_fwddiff((void *)sweep, enzyme_dup, copy, direction, enzyme_dup, copy + N, direction + N,
                                  enzyme_const, n);
    return sum + corpus_dot(weights, direction, SIZE);
}

__attribute__((noinline)) static void split(double *x, double *g, int n)
{
    struct tape_and_value first =
        __enzyme_augmentfwd((void *)sweep, enzyme_dup, x, g, enzyme_dup, x + N, g + N, enzyme_const, n);
    __enzyme_reverse_void((void *)sweep, enzyme_dup, x, g, enzyme_dup, x + N, g + N, enzyme_const, n, 1.0, first.tape);
}

static void gradient(const double *x, double *g)
{
    double copy[SIZE];
    corpus_copy(copy, x, SIZE);
    corpus_copy(g, weights, SIZE);
    split(copy, g, which);
}

static void in_one_call(const double *x, double *g)
{
    int n = which;
    double copy[SIZE];
    corpus_copy(copy, x, SIZE);
    corpus_copy(g, weights, SIZE);
    __enzyme_autodiff_void((void *)sweep, enzyme_dup, copy, g, enzyme_dup, copy + N, g + N, enzyme_const, n);
}

static const struct corpus_problem problem = {
    .name = "restrict_in_two_calls",
    .size = SIZE,
    .point = point,
    .setup = setup,
    .value = value,
    .tangent = tangent,
    .gradient = gradient,
    .variants = {{.name = "in one call", .gradient = in_one_call}},
    .coordinates = SIZE,
};

CORPUS_MAIN(&problem)
