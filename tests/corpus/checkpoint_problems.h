// Problems of a function of three arrays of N numbers and a number, under limits on what their gradients keep: of one state, of a
// few, of some. Memory must be left as the function itself leaves it. CHECKPOINT_NAME comes before the names of the problems, and
// CHECKPOINT_SEED is that of the data.
#ifndef CHECKPOINT_PROBLEMS_H
#define CHECKPOINT_PROBLEMS_H

#include "corpus.h"

enum { SIZE = 3 * N + 1 };

static double point[SIZE], first[N], second[N], third[N];

static void setup(void)
{
    corpus_seed(CHECKPOINT_SEED);
    corpus_fill(point, 3 * N, 0.2, 1.0);
    point[3 * N] = 0.9;
}

static void start(const double *x)
{
    corpus_copy(first, x, N);
    corpus_copy(second, x + N, N);
    corpus_copy(third, x + 2 * N, N);
}

#define GRADIENT(KIND, NAME, ...)                                                                                      \
    static void KIND##_##NAME(const double *x, double *g)                                                              \
    {                                                                                                                  \
        double after[3][N];                                                                                            \
        start(x);                                                                                                      \
        KIND(first, second, third, x[3 * N]);                                                                          \
        corpus_copy(after[0], first, N);                                                                               \
        corpus_copy(after[1], second, N);                                                                              \
        corpus_copy(after[2], third, N);                                                                               \
        start(x);                                                                                                      \
        corpus_zero(g, SIZE);                                                                                          \
        g[3 * N] = __enzyme_autodiff((void *)KIND, __VA_ARGS__ first, g, second, g + N, third, g + 2 * N, x[3 * N]);   \
        for (int i = 0; i < N; i++)                                                                                    \
            if (after[0][i] != first[i] || after[1][i] != second[i] || after[2][i] != third[i])                        \
                g[i] = NAN;                                                                                            \
    }

#define LIMIT(BYTES) enzyme_max_tape, (size_t)(BYTES),
#define PROBLEM(KIND)                                                                                                  \
    static double KIND##_value(const double *x)                                                                        \
    {                                                                                                                  \
        start(x);                                                                                                      \
        return KIND(first, second, third, x[3 * N]);                                                                   \
    }                                                                                                                  \
    static double KIND##_tangent(const double *x, const double *v)                                                     \
    {                                                                                                                  \
        double du[N], dv[N], dw[N];                                                                                    \
        start(x);                                                                                                      \
        corpus_copy(du, v, N);                                                                                         \
        corpus_copy(dv, v + N, N);                                                                                     \
        corpus_copy(dw, v + 2 * N, N);                                                                                 \
        return __enzyme_fwddiff((void *)KIND, first, du, second, dv, third, dw, x[3 * N], v[3 * N]);                   \
    }                                                                                                                  \
    GRADIENT(KIND, gradient, )                                                                                         \
    GRADIENT(KIND, one_state, LIMIT(1))                                                                                \
    GRADIENT(KIND, few_states, LIMIT(3000))                                                                            \
    GRADIENT(KIND, some_states, LIMIT(9000))                                                                           \
    static const struct corpus_problem KIND##_problem = {                                                              \
        .name = CHECKPOINT_NAME "_" #KIND,                                                                           \
        .size = SIZE,                                                                                                  \
        .point = point,                                                                                                \
        .setup = setup,                                                                                                \
        .value = KIND##_value,                                                                                         \
        .tangent = KIND##_tangent,                                                                                     \
        .gradient = KIND##_gradient,                                                                                   \
        .variants =                                                                                                    \
            {                                                                                                          \
                {.name = "room for one state", .gradient = KIND##_one_state},                                          \
                {.name = "for few", .gradient = KIND##_few_states},                                                    \
                {.name = "for some", .gradient = KIND##_some_states},                                                  \
            },                                                                                                         \
    };

#endif
