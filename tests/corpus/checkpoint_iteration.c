// An iteration that stops when little changes, or by `break` after many steps: how often it runs is not known before.
// Two arrays and three scalars go from step to step; a scratch array is allocated in each. States are kept at distances
// that double as the loop runs on.
// Source: Stumm, Walther, "New algorithms for optimal online checkpointing", SIAM J. Sci. Comput. 32 (2010).
#include "corpus.h"

static double iterate(double *x, double *y, int n, double a)
{
    double change = 1.0, sum = 0.0;
    int steps = 0;
    while (change > 1e-7) {
        double *scratch = malloc((size_t)n * sizeof(double));
        double total = 0.0;
        for (int i = 0; i < n; i++)
            scratch[i] = 0.9 * cos(a * x[i]) + 0.01 * y[i];
        for (int i = 0; i < n; i++) {
            double d = scratch[i] - x[i];
            y[i] = 0.97 * y[i] + d * d;
            x[i] = scratch[i];
            total += d * d;
        }
        free(scratch);
        change = sqrt(total);
        sum = 0.5 * sum + change * a;
        if (++steps > CORPUS_SIZE(120, 12))
            break;
    }
    double result = sum;
    for (int i = 0; i < n; i++)
        result += x[i] * (i + 1) + y[i];
    return result;
}

enum { N = CORPUS_SIZE(15, 3), SIZE = 2 * N + 1 };

static double point[SIZE], first[N], second[N];

static void setup(void)
{
    corpus_seed(32);
    corpus_fill(point, 2 * N, 0.2, 1.0);
    point[2 * N] = 1.1;
}

static double value(const double *x)
{
    corpus_copy(first, x, N);
    corpus_copy(second, x + N, N);
    return iterate(first, second, N, x[2 * N]);
}

static double tangent(const double *x, const double *v)
{
    double d_first[N], d_second[N];
    corpus_copy(first, x, N);
    corpus_copy(second, x + N, N);
    corpus_copy(d_first, v, N);
    corpus_copy(d_second, v + N, N);
    return __enzyme_fwddiff((void *)iterate, first, d_first, second, d_second, N, x[2 * N], v[2 * N]);
}

static void start(const double *x, double *g)
{
    corpus_zero(g, SIZE);
    corpus_copy(first, x, N);
    corpus_copy(second, x + N, N);
}

static void gradient(const double *x, double *g)
{
    start(x, g);
    g[2 * N] = __enzyme_autodiff((void *)iterate, first, g, second, g + N, N, x[2 * N]);
}

static void one_state(const double *x, double *g)
{
    start(x, g);
    g[2 * N] = __enzyme_autodiff((void *)iterate, enzyme_max_tape, (size_t)1, first, g, second, g + N, N, x[2 * N]);
}

static void few_states(const double *x, double *g)
{
    start(x, g);
    g[2 * N] = __enzyme_autodiff((void *)iterate, enzyme_max_tape, (size_t)(4 * (2 * N + 3) * sizeof(double)), first,
                                 g, second, g + N, N, x[2 * N]);
}

static const struct corpus_problem problem = {
    .name = "checkpoint_iteration",
    .size = SIZE,
    .point = point,
    .setup = setup,
    .value = value,
    .tangent = tangent,
    .gradient = gradient,
    .variants =
        {
            {.name = "room for one state", .gradient = one_state},
            {.name = "room for few states", .gradient = few_states},
        },
};

CORPUS_MAIN(&problem)
