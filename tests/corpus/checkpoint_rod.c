// Heat in a rod that radiates, explicit steps in place, under limits on what the derivative may keep of the time loop:
// u_i += r (u_{i-1} - 2 u_i + u_{i+1}) - s u_i^3. The number of steps is known on entry, so states are kept binomially;
// with room for one state every step is repeated from the start, with much room there is nothing to repeat.
// Source: Griewank, Walther, "Algorithm 799: revolve", ACM TOMS 26 (2000).
#include "corpus.h"

static double rod_loss(double *u, const double *target, int n, int steps, double r, double s)
{
    for (int t = 0; t < steps; t++) {
        double left = u[0];
        for (int i = 1; i < n - 1; i++) {
            double here = u[i];
            u[i] = here + r * (left - 2.0 * here + u[i + 1]) - s * here * here * here;
            left = here;
        }
    }
    double loss = 0.0;
    for (int i = 0; i < n; i++)
        loss += (u[i] - target[i]) * (u[i] - target[i]);
    return loss / n;
}

enum { N = CORPUS_SIZE(60, 6), STEPS = CORPUS_SIZE(150, 7), SIZE = N + 2 };

static double point[SIZE], target[N], work[N];

static void setup(void)
{
    corpus_seed(31);
    for (int i = 0; i < N; i++)
        point[i] = sin(3.0 * i / N) + corpus_uniform(-0.1, 0.1);
    point[N] = 0.2;
    point[N + 1] = 0.05;
    corpus_fill(target, N, 0.0, 0.2);
}

static double value(const double *x)
{
    corpus_copy(work, x, N);
    return rod_loss(work, target, N, STEPS, x[N], x[N + 1]);
}

static double tangent(const double *x, const double *v)
{
    double shadow[N];
    corpus_copy(work, x, N);
    corpus_copy(shadow, v, N);
    return __enzyme_fwddiff((void *)rod_loss, work, shadow, enzyme_const, target, N, STEPS, x[N], v[N], x[N + 1],
                            v[N + 1]);
}

struct rates {
    double r, s;
};

CORPUS_MARKER(struct rates, __enzyme_autodiff_rates)

#define GRADIENT(name, ...)                                                                                            \
    static void name(const double *x, double *g)                                                                       \
    {                                                                                                                  \
        double after[N];                                                                                               \
        corpus_copy(work, x, N);                                                                                       \
        corpus_zero(g, SIZE);                                                                                          \
        struct rates d = __enzyme_autodiff_rates((void *)rod_loss, __VA_ARGS__ work, g, enzyme_const, target, N,       \
                                                 STEPS, x[N], x[N + 1]);                                               \
        g[N] = d.r;                                                                                                    \
        g[N + 1] = d.s;                                                                                                \
        corpus_copy(after, x, N);                                                                                      \
        rod_loss(after, target, N, STEPS, x[N], x[N + 1]);                                                             \
        for (int i = 0; i < N; i++)                                                                                    \
            if (after[i] != work[i])                                                                                   \
                g[i] = NAN;                                                                                            \
    }

#define COMMA ,

GRADIENT(gradient, )
GRADIENT(one_state, enzyme_max_tape COMMA(size_t) 1 COMMA)
GRADIENT(few_states, enzyme_max_tape COMMA(size_t)(5 * (N + 2) * sizeof(double)) COMMA)
GRADIENT(much_room, enzyme_max_tape COMMA(size_t)(1 << 30) COMMA)

static const struct corpus_problem problem = {
    .name = "checkpoint_rod",
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
            {.name = "much room", .gradient = much_room},
        },
};

CORPUS_MAIN(&problem)
