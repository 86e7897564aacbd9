// The Jacobian of a function with several outputs by rows, several at once: adjoints in lanes, which share the primal and its caches, over
// lists, memory that grows, helpers, recursion, tables and choices; in one call, in two, and with scalars by value.
// corpus: valgrind
#include "corpus.h"

enum { N = 5 };

struct two_of_two {
    double a[2], b[2];
};
CORPUS_MARKER(struct two_of_two, __enzyme_autodiff_two)
CORPUS_MARKER(void *, __enzyme_augmentfwd)
CORPUS_MARKER_VOID(__enzyme_reverse_void)
extern int enzyme_width, enzyme_dupv;

static double point[N], table[3], unit[N][N];
static const double weight[N] = {1.0, -0.5, 2.0, 0.3, 1.7};

struct node {
    double value;
    struct node *next;
};

static double reach(const double *x, int n)
{
    return n == 0 ? 1.0 : x[n - 1] * reach(x, n - 1) + sin(x[n - 1]);
}

__attribute__((noinline)) static void mix(double *y, const double *x, int n)
{
    double *t = malloc(n * sizeof *t);
    for (int i = 0; i < n; i++)
        t[i] = exp(0.5 * x[i]);
    for (int i = 0; i < n; i++)
        y[i] = t[i] * x[(i + 1) % n] + y[i] * y[i];
    free(t);
}

// n outputs of n inputs.
static void outputs(const double *x, double *y, int n)
{
    struct node *list = NULL;
    double local[8], *grown = NULL, z = x[0];
    int m = 0;
    for (int i = 0; i < n; i++) {
        struct node *new = malloc(sizeof *new);
        new->value = x[i] * x[i];
        new->next = list;
        list = new;
        local[i & 7] = sin(x[i]);
        table[i % 3] = 2.0 * x[i];
        while (fabs(z) > 0.01 && m < 20) {
            grown = realloc(grown, (m + 1) * sizeof *grown);
            grown[m++] = z * x[i];
            z *= 0.6;
        }
    }
    int k = 0;
    while (list) {
        struct node *done = list;
        y[k] = list->value * local[k & 7] + (x[k] > 0.5 ? table[k % 3] : x[k]);
        k++;
        list = list->next;
        free(done);
    }
    for (int i = 0; i < m; i++)
        y[i % n] += grown[i] * grown[(i + 1) % m];
    free(grown);
    mix(y, x, n);
    y[0] += reach(x, n);
}

static double of_two(double a, double b)
{
    return a * b + sin(a);
}

static double value(const double *x)
{
    double y[N];
    outputs(x, y, N);
    return corpus_dot(weight, y, N);
}

static void setup(void)
{
    corpus_seed(69);
    corpus_fill(point, N, 0.2, 0.9);
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            unit[i][j] = i == j;
}

static double tangent(const double *x, const double *v)
{
    double y[N], dy[N] = {0.0};
    __enzyme_fwddiff_void((void *)outputs, enzyme_dup, x, v, enzyme_dup, y, dy, enzyme_const, N);
    return corpus_dot(weight, dy, N);
}

// The gradient of the weighted sum, from all rows of the Jacobian.
static void weighted(double rows[N][N], double *g)
{
    corpus_zero(g, N);
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            g[j] += weight[i] * rows[i][j];
}

static void gradient(const double *x, double *g)
{
    double y[N], rows[N][N] = {{0.0}}, seeds[N][N];
    memcpy(seeds, unit, sizeof seeds);
    __enzyme_autodiff_void((void *)outputs, enzyme_width, N, enzyme_dupv, sizeof rows[0], x, rows, enzyme_dupv,
                           sizeof seeds[0], y, seeds, enzyme_const, N);
    weighted(rows, g);
}

static void one_by_one(const double *x, double *g)
{
    double y[N], rows[N][N] = {{0.0}};
    for (int i = 0; i < N; i++) {
        double seed[N];
        corpus_copy(seed, unit[i], N);
        __enzyme_autodiff_void((void *)outputs, enzyme_dup, x, rows[i], enzyme_dup, y, seed, enzyme_const, N);
    }
    weighted(rows, g);
}

static void in_two_calls(const double *x, double *g)
{
    double y[N], r[N][N] = {{0.0}}, s[N][N];
    memcpy(s, unit, sizeof s);
    void *tape = __enzyme_augmentfwd((void *)outputs, enzyme_width, 5, enzyme_dup, x, r[0], r[1], r[2], r[3], r[4],
                                     enzyme_dup, y, s[0], s[1], s[2], s[3], s[4], enzyme_const, N);
    __enzyme_reverse_void((void *)outputs, enzyme_width, 5, enzyme_dup, x, r[0], r[1], r[2], r[3], r[4], enzyme_dup, y,
                          s[0], s[1], s[2], s[3], s[4], enzyme_const, N, tape);
    weighted(r, g);
}

static int extra(void)
{
    // Both lanes have the seed one.
    struct two_of_two both = __enzyme_autodiff_two((void *)of_two, enzyme_width, 2, enzyme_out, 2.0, enzyme_out, 3.0);
    double error = fabs(both.a[0] - 3.0 - cos(2.0)) + fabs(both.a[1] - both.a[0]) + fabs(both.b[0] - 2.0) + fabs(both.b[1] - 2.0);
    int failed = corpus_check("lanes", "scalars", error, 1e-14);
    // Seeds of their own, in two calls.
    double x[N], r[2][N] = {{0.0}}, alone[N] = {0.0}, worst = 0.0;
    corpus_copy(x, point, N);
    void *tape = __enzyme_augmentfwd((void *)reach, enzyme_width, 2, enzyme_dup, x, r[0], r[1], enzyme_const, N);
    __enzyme_reverse_void((void *)reach, enzyme_width, 2, enzyme_dup, x, r[0], r[1], enzyme_const, N, 1.0, -3.0, tape);
    __enzyme_autodiff_void((void *)reach, enzyme_dup, x, alone, enzyme_const, N);
    for (int i = 0; i < N; i++)
        worst = fmax(worst, fabs(r[0][i] - alone[i]) + fabs(r[1][i] + 3.0 * alone[i]));
    return failed + corpus_check("lanes", "seeds", worst, 1e-13);
}

static const struct corpus_problem problem = {
    .name = "adjoints_side_by_side",
    .size = N,
    .point = point,
    .setup = setup,
    .value = value,
    .tangent = tangent,
    .gradient = gradient,
    .variants = {{.name = "one by one", .gradient = one_by_one}, {.name = "in two calls", .gradient = in_two_calls}},
    .extra = extra,
};

CORPUS_MAIN(&problem)
