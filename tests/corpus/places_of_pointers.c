// Memory of the caller where each place holds an address first, then a number: a table of loads whose entries are
// resolved once, in place, as tables of symbols are. The caller's shadows of the addresses give way to adjoints.
//
//   f(x) = sum_k w_k v_k v_{k+1},  v_k = sin(x_{n-k}) + x_k^2
#include "corpus.h"

#define N 9

union place {
    const double *from;
    double value;
};

__attribute__((noinline)) static void resolve(union place *table, const double *x, int n)
{
    for (int k = 0; k < n; k++) {
        double own = sin(*table[k].from);
        table[k].value = own + x[k] * x[k];
    }
}

static double energy(union place *first, union place *table, const double *x, int n)
{
    double sum = 0.0, of_first = *first->from;
    first->value = of_first * x[1];
    resolve(table, x, n);
    for (int k = 0; k + 1 < n; k++)
        sum += (0.5 + k) * table[k].value * table[k + 1].value;
    return sum + first->value * first->value;
}

static double value(const double *x)
{
    union place first = {.from = x}, table[N];
    for (int k = 0; k < N; k++)
        table[k].from = &x[N - 1 - k];
    return energy(&first, table, x, N);
}

static double tangent(const double *x, const double *direction)
{
    union place first = {.from = x}, table[N], first_t = {.from = direction}, table_t[N];
    for (int k = 0; k < N; k++) {
        table[k].from = &x[N - 1 - k];
        table_t[k].from = &direction[N - 1 - k];
    }
    return __enzyme_fwddiff((void *)energy, enzyme_dup, &first, &first_t, enzyme_dup, table, table_t, enzyme_dup, x,
                            direction, enzyme_const, N);
}

static void gradient(const double *x, double *g)
{
    corpus_zero(g, N);
    union place first = {.from = x}, table[N], first_b = {.from = g}, table_b[N];
    for (int k = 0; k < N; k++) {
        table[k].from = &x[N - 1 - k];
        table_b[k].from = &g[N - 1 - k];
    }
    __enzyme_autodiff((void *)energy, enzyme_dup, &first, &first_b, enzyme_dup, table, table_b, enzyme_dup, x, g,
                      enzyme_const, N);
}

static const double point[N] = {0.3, -0.7, 1.1, 0.4, -0.2, 0.9, -1.3, 0.6, 0.8};
static const struct corpus_problem problem = {
    .name = "places_of_pointers", .size = N, .point = point, .value = value, .tangent = tangent, .gradient = gradient};

CORPUS_MAIN(&problem)
