// corpus: levels O1 O2 O3
// Links to numbers, with weights, out of a constant table or out of the program's own, which of them only the run
// decides. They are copied as wholes, by a function that knows nothing of them. (At -O0 the variable that holds either
// address has it refused: E0305.)
//
//   f(x) = sum_k w_k sin(v_k)
#include "corpus.h"

#include <string.h>

#define N 8

struct link {
    const double *at;
    double weight;
};

static const double base[2] = {0.5, 2.0};
static const struct link fixed[2] = {{&base[0], 1.5}, {&base[1], -0.5}};

static const struct link *chosen(const struct link *own, int k) { return k % 3 == 2 ? &fixed[k % 2] : &own[k / 2]; }

__attribute__((noinline)) static void take(struct link *to, const struct link *from, size_t n)
{
    memcpy(to, from, n * sizeof *to);
}

static double model(const double *x)
{
    double sum = 0.0;
    struct link links[N], taken[N];
    for (int k = 0; k < N; k++)
        links[k] = (struct link){&x[N - 1 - k], 0.5 * x[k]};
    for (int k = 0; k < N; k++)
        take(&taken[k], chosen(links, k), 1);
    for (int k = 0; k < N; k++)
        sum += sin(*taken[k].at) * taken[k].weight;
    return sum;
}

static double tangent(const double *x, const double *direction)
{
    return __enzyme_fwddiff((void *)model, enzyme_dup, x, direction);
}

static void gradient(const double *x, double *g)
{
    corpus_zero(g, N);
    __enzyme_autodiff((void *)model, enzyme_dup, x, g);
}

static const double point[N] = {0.3, -0.7, 1.1, 0.4, -0.2, 0.9, -1.3, 0.6};
static const struct corpus_problem problem = {.name = "constant_links",
                                              .size = N,
                                              .point = point,
                                              .value = model,
                                              .tangent = tangent,
                                              .gradient = gradient,
                                              .coordinates = CORPUS_ALL};

CORPUS_MAIN(&problem)
