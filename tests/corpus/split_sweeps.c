// Both sweeps of reverse mode as calls of their own, as a program wants them that owns the loop over time steps and differentiates
// the step: it runs the first sweep of every step, and the second sweeps in the opposite order. The state is overwritten in
// place, so that what the second sweep needs is on the tapes, which are returned or lie in memory of the program.
// corpus: valgrind
#include "corpus.h"

enum { N = CORPUS_SIZE(24, 5), STEPS = CORPUS_SIZE(30, 4), SIZE = N + 1 };

struct tape_and_value {
    void *tape;
    double value;
};
CORPUS_MARKER(void *, __enzyme_augmentfwd_tape)
CORPUS_MARKER(struct tape_and_value, __enzyme_augmentfwd_both)
CORPUS_MARKER(double, __enzyme_augmentfwd_placed)
CORPUS_MARKER_VOID(__enzyme_augmentfwd_void)
CORPUS_MARKER(double, __enzyme_reverse_one)
CORPUS_MARKER_VOID(__enzyme_reverse_void)
CORPUS_MARKER(int, __enzyme_augmentsize)
extern int enzyme_tape, enzyme_allocated;

static double point[SIZE];

// One step of a reaction with diffusion, in place; the rate is a parameter by value.
static void step(double *u, int n, double rate)
{
    double last = u[0];
    for (int i = 1; i + 1 < n; i++) {
        double here = u[i];
        u[i] = here + 0.1 * (last - 2.0 * here + u[i + 1]) + 0.05 * rate * here * (1.0 - here);
        last = here;
    }
}

// What is measured at the end, with memory of its own that lives until the second sweep.
static double measure(const double *u, int n)
{
    double *smooth = malloc(n * sizeof *smooth), sum = 0.0;
    for (int i = 0; i < n; i++)
        smooth[i] = exp(-u[i] * u[i]);
    for (int i = 1; i < n; i++)
        sum += smooth[i] * smooth[i - 1] * u[i];
    free(smooth);
    return sqrt(1.0 + sum * sum);
}

static void setup(void)
{
    corpus_seed(62);
    corpus_fill(point, SIZE, 0.2, 0.9);
}

static double value(const double *x)
{
    double u[N];
    corpus_copy(u, x, N);
    for (int t = 0; t < STEPS; t++)
        step(u, N, x[N]);
    return measure(u, N);
}

static double tangent(const double *x, const double *v)
{
    return __enzyme_fwddiff((void *)value, enzyme_dup, x, v);
}

static void gradient(const double *x, double *g)
{
    void *tapes[STEPS];
    double u[N], wanted = value(x);
    corpus_copy(u, x, N);
    corpus_zero(g, SIZE);
    for (int t = 0; t < STEPS; t++)
        tapes[t] = __enzyme_augmentfwd_tape((void *)step, enzyme_dup, u, g, enzyme_const, N, enzyme_out, x[N]);
    struct tape_and_value end = __enzyme_augmentfwd_both((void *)measure, enzyme_dup, u, g, enzyme_const, N);
    for (int i = 0; i < N; i++)
        u[i] = NAN; // nobody may look at it again
    __enzyme_reverse_void((void *)measure, enzyme_dup, u, g, enzyme_const, N, 1.0, end.tape);
    for (int t = STEPS - 1; t >= 0; t--)
        g[N] += __enzyme_reverse_one((void *)step, enzyme_dup, u, g, enzyme_const, N, enzyme_out, x[N], tapes[t]);
    if (fabs(end.value - wanted) > 1e-14 * wanted)
        g[0] = NAN;
}

// With the tapes in memory of the program, and the adjoint of the result left out, which is one then.
static void placed(const double *x, double *g)
{
    int size = __enzyme_augmentsize((void *)step, enzyme_dup, enzyme_const, enzyme_out);
    char *tapes = malloc((size_t)size * (STEPS + 1)), *last = tapes + (size_t)size * STEPS;
    double u[N];
    corpus_copy(u, x, N);
    corpus_zero(g, SIZE);
    for (int t = 0; t < STEPS; t++)
        __enzyme_augmentfwd_void((void *)step, enzyme_allocated, size, enzyme_tape, tapes + (size_t)size * t,
                                 enzyme_dup, u, g, enzyme_const, N, enzyme_out, x[N]);
    double got = __enzyme_augmentfwd_placed((void *)measure, enzyme_dup, u, g, enzyme_const, N, enzyme_tape, last);
    __enzyme_reverse_void((void *)measure, enzyme_dup, u, g, enzyme_const, N, enzyme_tape, last);
    for (int t = STEPS - 1; t >= 0; t--)
        g[N] += __enzyme_reverse_one((void *)step, enzyme_allocated, size, enzyme_tape, tapes + (size_t)size * t,
                                     enzyme_dup, u, g, enzyme_const, N, enzyme_out, x[N]);
    if (!(got > 0.0))
        g[0] = NAN;
    free(tapes);
}

static const struct corpus_problem problem = {
    .name = "split_sweeps",
    .size = SIZE,
    .point = point,
    .setup = setup,
    .value = value,
    .tangent = tangent,
    .gradient = gradient,
    .variants = {{.name = "tapes in the program's memory", .gradient = placed}},
    .coordinates = SIZE,
};

CORPUS_MAIN(&problem)
