// Loops over time whose steps are done again several at a time, under limits between two states and all of them. A travelling
// wave with damping in place: the number of steps is known on entry (`march`); is not (`settle`, whose steps become
// shorter, and `deplete`, which is left in the middle of a step); or there are such steps within steps (`relax`).
// Source: Griewank, Walther, "Evaluating Derivatives", 2nd ed. (2008), section 12.
#include "corpus.h"

enum { N = CORPUS_SIZE(20, 6), STEPS = CORPUS_SIZE(150, 12), SIZE = 2 * N + 2 };

static double moved(double u, double left, double right, double v, double a, double b)
{
    return u + a * (left - 2.0 * u + right) - b * u * u * v;
}

static double weighted(const double *u, const double *v)
{
    double sum = 0.0;
    for (int i = 0; i < N; i++)
        sum += u[i] * (1.0 + 0.1 * i) + v[i] * v[i];
    return sum;
}

static double march(double *u, double *v, double a, double b)
{
    double drained = 0.0;
    for (int t = 0; t < STEPS; t++) {
        double left = u[0];
        for (int i = 1; i < N - 1; i++) {
            double here = u[i];
            u[i] = moved(here, left, u[i + 1], v[i], a, b);
            v[i] = 0.98 * v[i] + 0.01 * here * here;
            left = here;
        }
        // Carried in a register.
        drained = 0.9 * drained + u[t % N] * a;
    }
    return weighted(u, v) + drained;
}

static double settle(double *u, double *v, double a, double b)
{
    double pace = 1.0, rate = 0.5 + a;
    while (pace > CORPUS_SIZE(2e-2, 0.6)) {
        for (int i = 1; i < N - 1; i++)
            u[i] = moved(u[i], u[i - 1], u[i + 1], v[i], a * pace, b * pace);
        rate *= 0.99 + 0.01 * u[N / 2];
        for (int i = 0; i < N; i++)
            v[i] += 0.01 * rate * (u[i] - v[i]);
        pace *= 0.96;
    }
    return weighted(u, v) + rate;
}

static double deplete(double *u, double *v, double a, double b)
{
    double taken = 0.0;
    int used = 0;
    for (int t = 0; t < 4 * STEPS; t++) {
        for (int i = 1; i < N - 1; i++)
            u[i] = moved(u[i], u[i - 1], u[i + 1], v[i], a, b);
        for (int i = 0; i < N; i++)
            v[i] *= 1.0 - 0.02 * a * u[i];
        taken += 0.05 * u[N / 3] * b;
        used += 1 + t % 3;
        if (used > 2 * STEPS)
            break;
        taken *= 1.0 + 0.001 * v[t % N];
    }
    return weighted(u, v) + taken;
}

static double relax(double *u, double *v, double a, double b)
{
    double energy = 0.0;
    for (int t = 0; t < STEPS / 10; t++) {
        for (int k = 0; k < 1 + t % 4; k++)
            for (int i = 1; i < N - 1; i++)
                u[i] = moved(u[i], u[i - 1], u[i + 1], v[i], a, b);
        for (int i = 0; i < N; i++) {
            v[i] = sin(v[i] + 0.1 * u[i]);
            energy = energy * 0.999 + v[i] * u[i];
        }
    }
    return weighted(u, v) + energy;
}

static double point[SIZE], first[N], second[N];

static void setup(void)
{
    corpus_seed(36);
    corpus_fill(point, 2 * N, 0.2, 1.0);
    point[2 * N] = 0.15;
    point[2 * N + 1] = 0.1;
}

static void start(const double *x)
{
    corpus_copy(first, x, N);
    corpus_copy(second, x + N, N);
}

struct rates {
    double a, b;
};

CORPUS_MARKER(struct rates, __enzyme_autodiff_rates)

#define GRADIENT(KIND, NAME, ...)                                                                                      \
    static void KIND##_##NAME(const double *x, double *g)                                                              \
    {                                                                                                                  \
        double after[2][N];                                                                                            \
        start(x);                                                                                                      \
        KIND(first, second, x[2 * N], x[2 * N + 1]);                                                                   \
        corpus_copy(after[0], first, N);                                                                               \
        corpus_copy(after[1], second, N);                                                                              \
        start(x);                                                                                                      \
        corpus_zero(g, SIZE);                                                                                          \
        struct rates d = __enzyme_autodiff_rates((void *)KIND, __VA_ARGS__ first, g, second, g + N, x[2 * N],          \
                                                 x[2 * N + 1]);                                                        \
        g[2 * N] = d.a;                                                                                                \
        g[2 * N + 1] = d.b;                                                                                            \
        for (int i = 0; i < N; i++)                                                                                    \
            if (after[0][i] != first[i] || after[1][i] != second[i])                                                   \
                g[i] = NAN;                                                                                            \
    }

#define LIMIT(BYTES) enzyme_max_tape, (size_t)(BYTES),
#define PROBLEM(KIND)                                                                                                  \
    static double KIND##_value(const double *x)                                                                        \
    {                                                                                                                  \
        start(x);                                                                                                      \
        return KIND(first, second, x[2 * N], x[2 * N + 1]);                                                            \
    }                                                                                                                  \
    static double KIND##_tangent(const double *x, const double *v)                                                     \
    {                                                                                                                  \
        double du[N], dv[N];                                                                                           \
        start(x);                                                                                                      \
        corpus_copy(du, v, N);                                                                                         \
        corpus_copy(dv, v + N, N);                                                                                     \
        return __enzyme_fwddiff((void *)KIND, first, du, second, dv, x[2 * N], v[2 * N], x[2 * N + 1], v[2 * N + 1]);  \
    }                                                                                                                  \
    GRADIENT(KIND, gradient, )                                                                                         \
    GRADIENT(KIND, two_states, LIMIT(1200))                                                                            \
    GRADIENT(KIND, few_states, LIMIT(3000))                                                                            \
    GRADIENT(KIND, some_states, LIMIT(8000))                                                                           \
    GRADIENT(KIND, many_states, LIMIT(24000))                                                                          \
    static const struct corpus_problem KIND##_problem = {                                                              \
        .name = "checkpoint_blocks_" #KIND,                                                                            \
        .size = SIZE,                                                                                                  \
        .point = point,                                                                                                \
        .setup = setup,                                                                                                \
        .value = KIND##_value,                                                                                         \
        .tangent = KIND##_tangent,                                                                                     \
        .gradient = KIND##_gradient,                                                                                   \
        .variants =                                                                                                    \
            {                                                                                                          \
                {.name = "room for two states", .gradient = KIND##_two_states},                                        \
                {.name = "for few", .gradient = KIND##_few_states},                                                    \
                {.name = "for some", .gradient = KIND##_some_states},                                                  \
                {.name = "for many", .gradient = KIND##_many_states},                                                  \
            },                                                                                                         \
    };

PROBLEM(march)
PROBLEM(settle)
PROBLEM(deplete)
PROBLEM(relax)

CORPUS_MAIN(&march_problem, &settle_problem, &deplete_problem, &relax_problem)
