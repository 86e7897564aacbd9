// Loops over time with few states kept, whose steps have work arrays. What each step fills before it reads it is no
// part of the state; what it reads of the step before is: rates of an earlier step, an element that is not filled, a
// column between rows, what is filled now and then, and memory that is the state by another name.
#include "corpus.h"

enum { SIZE = 8, ROOM = 40, STEPS = 5 };

#define KIND static __attribute__((noinline)) double

static double squares(const double *u, const double *w, int n)
{
    double sum = 0.0;
    for (int i = 0; i < n; i++)
        sum += (0.1 + 0.02 * i) * u[i] * u[i] + 0.03 * w[i] * u[i];
    return sum;
}

// The ends of an array apart from its inside; what is left there is read after the loop.
KIND ends(double *u, double *w, int n, int steps)
{
    for (int t = 0; t < steps; t++) {
        w[0] = 0.3 * u[1] * u[n - 1];
        w[n - 1] = 0.2 * u[0] * u[0];
        for (int i = 1; i < n - 1; i++)
            w[i] = (u[i + 1] - u[i - 1]) * u[i];
        for (int i = 0; i < n; i++)
            u[i] += 0.2 * w[i];
    }
    return squares(u, w, n);
}

// The last element is that of the step before.
KIND not_all(double *u, double *w, int n, int steps)
{
    for (int t = 0; t < steps; t++) {
        for (int i = 0; i < n - 1; i++)
            w[i] = u[i] * u[i + 1];
        for (int i = 0; i < n; i++)
            u[i] += 0.2 * w[i];
        w[n - 1] = 0.5 * u[0] * u[1];
    }
    return squares(u, w, n);
}

// One element more is read than is filled.
KIND one_beyond(double *u, double *w, int n, int steps)
{
    for (int t = 0; t < steps; t++) {
        for (int i = 0; i < n; i++)
            w[i] = u[i] * u[i] * 0.5;
        for (int i = 0; i < n; i++)
            u[i] += 0.2 * w[i + 1];
        w[n] = u[2] * u[0];
    }
    return squares(u, w, n);
}

// Two steps in one: the rates of the step before come in.
KIND multistep(double *u, double *w, int n, int steps)
{
    double *before = w + n;
    for (int t = 0; t < steps; t++) {
        for (int i = 0; i < n; i++)
            w[i] = u[i] * (1.0 - u[n - 1 - i]);
        for (int i = 0; i < n; i++) {
            u[i] += 0.1 * (1.5 * w[i] - 0.5 * before[i]);
            before[i] = w[i];
        }
    }
    return squares(u, w, n);
}

// Rows of a grid, ends apart; a column between them that remembers.
KIND rows(double *u, double *w, int n, int steps, int width, int stride)
{
    int count = n / 2;
    for (int t = 0; t < steps; t++) {
        for (int r = 0; r < count; r++) {
            w[r * stride] = u[r] * u[n - 1];
            for (int j = 1; j < width - 1; j++)
                w[r * stride + j] = u[r] * u[r + j] * 0.7;
            w[r * stride + width - 1] = 0.4 * u[r] * u[r];
        }
        for (int r = 0; r < count; r++)
            for (int j = 0; j < stride; j++)
                u[r] += 0.05 * w[r * stride + j];
        if (stride > width)
            for (int r = 0; r < count; r++)
                w[r * stride + width] = u[r] * u[n - 1];
    }
    return squares(u, w, n);
}

// A buffer for a row, filled for each row again.
KIND row_by_row(double *u, double *w, int n, int steps)
{
    for (int t = 0; t < steps; t++)
        for (int r = 0; r < n; r++) {
            for (int j = 0; j < n; j++)
                w[j] = u[r] * u[j];
            for (int j = 1; j < n; j++)
                u[r] += 0.02 * (w[j] - w[j - 1]);
        }
    return squares(u, w, n);
}

// Filled in every other step, or where the data say so.
KIND now_and_then(double *u, double *w, int n, int steps)
{
    for (int t = 0; t < steps; t++) {
        if (t & 1)
            for (int i = 0; i < n; i++)
                w[i] = u[i] * u[i];
        for (int i = 0; i < n; i++)
            if (u[i] > 0.6)
                w[n + i] = 0.3 * u[i] * u[n - 1 - i];
        for (int i = 0; i < n; i++)
            u[i] = 0.8 * u[i] + 0.2 * w[i] + 0.1 * w[n + i];
    }
    return squares(u, w, n);
}

// `w` may be a part of the state.
KIND by_another_name(double *u, double *w, int n, int steps)
{
    for (int t = 0; t < steps; t++) {
        for (int i = 0; i < n; i++)
            w[i] = 0.7 * u[i] * u[0] + 0.1;
        for (int i = 0; i < n; i++)
            u[i] += 0.2 * w[i] * u[n];
    }
    return squares(u, w, n);
}

// Copies and zeros; how many steps there are is not known on entry.
KIND copies(double *u, double *w, int n, int steps)
{
    int t = 0;
    while (t < steps && u[0] < 100.0) {
        memcpy(w, u, sizeof(double) * (size_t)n);
        memset(w + n, 0, sizeof(double) * (size_t)n);
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++)
                w[n + i] += w[j] * w[(i + j) % n];
        for (int i = 0; i < n; i++)
            u[i] += 0.01 * w[n + i];
        t++;
    }
    return squares(u, w, n);
}

struct kept {
    double u[ROOM], w[ROOM], du[ROOM], dw[ROOM];
};

static void begin(struct kept *k, const double *x, const double *v)
{
    for (int i = 0; i < ROOM; i++) {
        k->u[i] = i < SIZE ? x[i] : 0.3;
        k->w[i] = 0.2 + 0.01 * i;
        k->du[i] = v && i < SIZE ? v[i] : 0.0;
        k->dw[i] = 0.0;
    }
}

// Arrays apart, and such that overlap: the second begins within the first.
#define OVERLAP(K) (K)->u + 3, (K)->du + 3
#define APART(K) (K)->w, (K)->dw

#define EACH(DO)                                                                                                       \
    DO(ends, APART, 3)                                                                                                 \
    DO(ends, APART, 7) DO(ends, APART, 2) DO(not_all, APART, 6) DO(one_beyond, APART, 6) DO(multistep, APART, 6)       \
        DO(row_by_row, APART, 6) DO(now_and_then, APART, 6) DO(by_another_name, APART, 6)                              \
            DO(by_another_name, OVERLAP, 5) DO(ends, OVERLAP, 4) DO(copies, APART, 6) DO(rows, APART, 6, 4, 4)         \
                DO(rows, APART, 6, 4, 5) DO(rows, APART, 6, 3, 5)

static double point[SIZE];

static void setup(void)
{
    corpus_seed(5);
    corpus_fill(point, SIZE, 0.3, 0.9);
}

#define PRIMAL_OF(P, D) P
#define FIRST(...) PRIMAL_OF(__VA_ARGS__)

static double value(const double *x)
{
    struct kept k;
    double sum = 0.0;
#define VALUE(KIND_, W, N, ...)                                                                                        \
    begin(&k, x, NULL);                                                                                                \
    sum += KIND_(k.u, FIRST(W(&k)), N, STEPS __VA_OPT__(, ) __VA_ARGS__);
    EACH(VALUE)
    return sum;
}

static double tangent(const double *x, const double *v)
{
    struct kept k;
    double sum = 0.0;
#define TANGENT(KIND_, W, N, ...)                                                                                      \
    begin(&k, x, v);                                                                                                   \
    sum += __enzyme_fwddiff((void *)KIND_, enzyme_dup, k.u, k.du, enzyme_dup, W(&k), enzyme_const, N, enzyme_const,    \
                            STEPS __VA_OPT__(, ) __VA_ARGS__);
    EACH(TANGENT)
    return sum;
}

static void gradient(const double *x, double *g)
{
    struct kept k;
    corpus_zero(g, SIZE);
#define GRADIENT(KIND_, W, N, ...)                                                                                     \
    begin(&k, x, NULL);                                                                                                \
    __enzyme_autodiff((void *)KIND_, enzyme_max_tape, (size_t)1, enzyme_dup, k.u, k.du, enzyme_dup, W(&k),             \
                      enzyme_const, N, enzyme_const, STEPS __VA_OPT__(, ) __VA_ARGS__);                                \
    for (int i = 0; i < SIZE; i++)                                                                                     \
        g[i] += k.du[i];
    EACH(GRADIENT)
}

static void in_full(const double *x, double *g)
{
    struct kept k;
    corpus_zero(g, SIZE);
#define IN_FULL(KIND_, W, N, ...)                                                                                      \
    begin(&k, x, NULL);                                                                                                \
    __enzyme_autodiff((void *)KIND_, enzyme_dup, k.u, k.du, enzyme_dup, W(&k), enzyme_const, N, enzyme_const,          \
                      STEPS __VA_OPT__(, ) __VA_ARGS__);                                                               \
    for (int i = 0; i < SIZE; i++)                                                                                     \
        g[i] += k.du[i];
    EACH(IN_FULL)
}

// Both arrays, which the steps leave as they do without a derivative.
static int left(void)
{
    struct kept k, other;
    double most = 0.0;
#define LEFT(KIND_, W, N, ...)                                                                                         \
    begin(&k, point, NULL);                                                                                            \
    begin(&other, point, NULL);                                                                                        \
    KIND_(k.u, FIRST(W(&k)), N, STEPS __VA_OPT__(, ) __VA_ARGS__);                                                     \
    __enzyme_autodiff((void *)KIND_, enzyme_max_tape, (size_t)1, enzyme_dup, other.u, other.du, enzyme_dup, W(&other), \
                      enzyme_const, N, enzyme_const, STEPS __VA_OPT__(, ) __VA_ARGS__);                                \
    for (int i = 0; i < ROOM && CORPUS_HAS_AD; i++)                                                                    \
        most = fmax(most, fmax(fabs(k.u[i] - other.u[i]), fabs(k.w[i] - other.w[i])));
    EACH(LEFT)
    return corpus_check("checkpoint_temporaries", "what is left in memory", most, 1e-15);
}

static const struct corpus_problem problem = {
    .name = "checkpoint_temporaries",
    .size = SIZE,
    .point = point,
    .setup = setup,
    .value = value,
    .tangent = tangent,
    .gradient = gradient,
    .variants = {{.name = "all states", .gradient = in_full}},
    .extra = left,
};

CORPUS_MAIN(&problem)
