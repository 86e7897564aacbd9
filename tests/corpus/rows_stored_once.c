// Rows that each step of a loop reads again, and of which the first step might keep what all need: rows that stay, that change
// from round to round, that become shorter, that are read under a condition or in a triangle, by steps that end early. The row
// lies behind what the steps overwrite, meets it, or is it.
#include "corpus.h"

enum { N = 24, SIZE = 2 * N, STEPS = 3 };

static double point[SIZE], work[SIZE];

static double squares(const double *u, int n)
{
    double sum = 0.0;
    for (int i = 0; i < n; i++)
        sum += u[i] * u[i];
    return sum;
}

static double rod(double *u, double *c, int n, int steps)
{
    for (int t = 0; t < steps; t++)
        for (int i = 1; i < n - 1; i++)
            u[i] += 0.1 * c[i] * (1.0 + u[i] * u[i]) * (u[i + 1] - u[i]);
    return squares(u, n);
}

// The row changes between rounds of steps.
static double rounds(double *u, double *c, int n, int steps)
{
    for (int round = 0; round < 3; round++) {
        for (int t = 0; t < steps; t++)
            for (int i = 0; i < n; i++)
                u[i] = 0.5 * c[i] * u[i] * u[i] + 0.25;
        for (int i = 0; i < n; i++)
            c[i] = 0.5 * c[i] * u[i] + 0.125;
    }
    return squares(u, n) + squares(c, n);
}

// A shorter row in each round, and a product that is the same in all steps.
static double shorter(double *u, double *c, int n, int steps)
{
    for (int end = n; end > 0; end -= 5) {
        double factor = 0.002 * end;
        for (int t = 0; t < steps; t++)
            for (int i = 0; i < end; i++)
                u[i] *= 1.0 + factor * c[i] * u[i];
    }
    return squares(u, n);
}

// Other elements in each step.
static double chosen(double *u, double *c, int n, int steps)
{
    for (int t = 0; t < steps; t++)
        for (int i = 0; i < n; i++) {
            if ((i + t) % 3 == 0)
                u[i] = c[i] * u[i] * u[i] - 0.5;
            else if (u[i] > 0.6)
                u[i] *= 0.75 * c[i] * c[i] * u[i];
        }
    return squares(u, n);
}

static double triangle(double *u, double *c, int n, int steps)
{
    for (int t = 0; t < steps; t++)
        for (int i = 0; i < n; i++)
            for (int j = 0; j < i; j++)
                u[i] += 0.01 * c[j] * u[i] * u[i];
    return squares(u, n);
}

// The first step may be the last one.
static double ends(double *u, double *c, int n, int steps)
{
    for (int t = 0; t < steps; t++) {
        double sum = 0.0;
        for (int i = 0; i < n; i++) {
            u[i] = u[i] * (0.7 + 0.1 * c[i] * u[i]);
            sum += c[i] * u[i];
        }
        if (sum * sum < 0.1 * n)
            break;
    }
    return squares(u, n);
}

// No step, or a longer row than in the steps before, in turns.
static double turns(double *u, double *c, int n, int steps)
{
    for (int round = 0; round < 4; round++)
        for (int t = 0; t < (round % 2 == 0 ? steps : steps - 1); t++)
            for (int i = 0; i < n - 3 + round; i++)
                u[i] = 0.5 * u[i] * c[i] * u[i] + 0.1 * round;
    return squares(u, n);
}

// Where the row begins; it ends with the memory at the latest.
static const struct {
    int row, length;
} cases[] = {{N, N}, {N, 1}, {N, 2}, {N, 3}, {N, 7}, {N, 9}, {0, N}, {1, N}, {N / 2, N}, {N - 1, N}};

#define EACH(what)                                                                                                     \
    what(rod);                                                                                                         \
    what(rounds);                                                                                                      \
    what(shorter);                                                                                                     \
    what(chosen);                                                                                                      \
    what(triangle);                                                                                                    \
    what(ends);                                                                                                        \
    what(turns)

#define EACH_CASE(k, steps)                                                                                            \
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++)                                                          \
        for (int steps = 0; steps <= STEPS; steps++)

static void setup(void)
{
    corpus_seed(223);
    corpus_fill(point, SIZE, 0.3, 0.9);
}

static double value(const double *x)
{
    double sum = 0.0;
    EACH_CASE(k, steps)
    {
#define VALUE(function)                                                                                                \
    corpus_copy(work, x, SIZE);                                                                                        \
    sum += function(work, work + cases[k].row, cases[k].length, steps)
        EACH(VALUE);
    }
    return sum;
}

static double tangent(const double *x, const double *v)
{
    double sum = 0.0, shadow[SIZE];
    EACH_CASE(k, steps)
    {
#define TANGENT(function)                                                                                              \
    corpus_copy(work, x, SIZE);                                                                                        \
    corpus_copy(shadow, v, SIZE);                                                                                      \
    sum += __enzyme_fwddiff((void *)function, enzyme_dup, work, shadow, enzyme_dup, work + cases[k].row,               \
                            shadow + cases[k].row, enzyme_const, cases[k].length, enzyme_const, steps)
        EACH(TANGENT);
    }
    return sum;
}

static void gradient(const double *x, double *g)
{
    double shadow[SIZE];
    corpus_zero(g, SIZE);
    EACH_CASE(k, steps)
    {
#define GRADIENT(function)                                                                                             \
    corpus_copy(work, x, SIZE);                                                                                        \
    corpus_zero(shadow, SIZE);                                                                                         \
    __enzyme_autodiff((void *)function, enzyme_dup, work, shadow, enzyme_dup, work + cases[k].row,                     \
                      shadow + cases[k].row, enzyme_const, cases[k].length, enzyme_const, steps);                      \
    for (int i = 0; i < SIZE; i++)                                                                                     \
        g[i] += shadow[i]
        EACH(GRADIENT);
    }
}

static const struct corpus_problem problem = {
    .name = "rows_stored_once",
    .size = SIZE,
    .point = point,
    .setup = setup,
    .value = value,
    .tangent = tangent,
    .gradient = gradient,
};

CORPUS_MAIN(&problem)
