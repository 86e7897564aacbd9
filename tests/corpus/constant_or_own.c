// Cells that hold a number or lead to another cell, out of a constant table or out of memory of the program's own,
// which of them only the run decides: parameters of a model with defaults. They are copied one by one, in bulk, and
// changed in place.
//
//   f(x) = sum_k c_k g(cell_k),  g(number v) = sin(v) + v^2 / 2,  g(link to c) = v(c) / 2 + v(c)^2
#include "corpus.h"

#include <string.h>

#define N 8

struct cell {
    long is_link;
    union {
        double value;
        const struct cell *to;
    };
};

static const struct cell defaults[4] = {
    {0, {.value = 0.75}},
    {1, {.to = &defaults[0]}},
    {0, {.value = -1.25}},
    {1, {.to = &defaults[2]}},
};

static const struct cell *chosen(const struct cell *own, int k) { return k % 3 == 1 ? &defaults[k % 4] : &own[k]; }

__attribute__((noinline)) static void take(struct cell *to, const struct cell *from) { *to = *from; }

__attribute__((noinline)) static void take_many(struct cell *to, const struct cell *from, size_t n)
{
    memcpy(to, from, n * sizeof *to);
}

static double number(const struct cell *c) { return c->is_link ? c->to->value : c->value; }

static double total(const struct cell *cells, int n)
{
    double sum = 0.0;
    for (int k = 0; k < n; k++) {
        double v = number(&cells[k]);
        sum += (1.0 + 0.25 * k) * (cells[k].is_link ? 0.5 * v + v * v : sin(v) + 0.5 * v * v);
    }
    return sum;
}

static double model(const double *x)
{
    struct cell own[N], work[N], more[N];
    for (int k = 0; k < N; k++) {
        own[k] = (struct cell){0, {.value = x[k]}};
        if (k % 4 == 3)
            own[k] = (struct cell){1, {.to = &own[k - 1]}};
        if (k == 6)
            own[k] = (struct cell){1, {.to = &defaults[2]}};
    }
    for (int k = 0; k < N; k++)
        take(&work[k], chosen(own, k));
    double sum = total(work, N);
    for (int k = 0; k + 2 <= N; k += 2)
        take_many(&more[k], k == 2 ? &defaults[1] : k == 4 ? own : &work[k], 2);
    sum += 0.5 * total(more, N);
    // A link gives way to a number, and the other way round.
    for (int k = 0; k < N; k++)
        more[k] = more[k].is_link ? (struct cell){0, {.value = number(&more[k]) * x[k]}}
                                  : (struct cell){1, {.to = chosen(own, 4)}};
    return sum + total(more, N);
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
static const struct corpus_problem problem = {.name = "constant_or_own",
                                              .size = N,
                                              .point = point,
                                              .value = model,
                                              .tangent = tangent,
                                              .gradient = gradient,
                                              .coordinates = CORPUS_ALL};

CORPUS_MAIN(&problem)
