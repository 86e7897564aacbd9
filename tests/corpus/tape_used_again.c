// One augmented sweep, several reverse sweeps on its tape (enzyme_nofree): the rows of a Jacobian. What the function overwrites, keeps
// on its stack, allocates, links and passes to its callees is there again each time, with adjoints that start from zero; the last
// sweep frees it. In one lane and in two, with the tape in memory of the program's own.
//
// loss = sum w_i y_i of n outputs.
// Source: Griewank, Walther, "Evaluating Derivatives", 2nd ed., section 3.3, on adjoints of several weights.
#include "corpus.h"

enum { N = CORPUS_SIZE(9, 4) };

extern void *__enzyme_augmentfwd(void *function, ...);
extern void __enzyme_reverse(void *function, ...);
extern void *__enzyme_augmentfwd_into(void *function, ...);
extern int enzyme_nofree, enzyme_width, enzyme_tape;

struct node {
    double value, weight;
    struct node *next;
    int index;
};

__attribute__((noinline)) static double through_stack(const double *x, int n)
{
    double local[N], sum = 0.0;
    local[0] = x[0];
    for (int i = 1; i < n; i++)
        local[i] = sin(local[i - 1]) * x[i];
    for (int i = 0; i < n; i++)
        sum += local[i] * local[n - 1 - i];
    return sum;
}

static void outputs(double *x, double *y, int n)
{
    struct node *list = NULL;
    double *scaled = malloc(sizeof(double) * (size_t)n), *fresh = calloc((size_t)n, sizeof(double));
    for (int i = 0; i < n; i++) {
        struct node *made = malloc(sizeof *made);
        made->value = x[i] * x[i];
        made->weight = 0.5 + 0.1 * i;
        made->index = i;
        made->next = list;
        list = made;
        scaled[i] = exp(0.3 * x[i]);
    }
    for (int t = 0; t < 3; t++)
        for (int i = 0; i < n; i++)
            x[i] = 0.8 * x[i] + 0.1 * x[(i + 1) % n] * scaled[i];
    for (struct node *at = list; at; at = at->next) {
        fresh[at->index] += at->value * at->weight + x[at->index];
        y[at->index] = fresh[at->index] * scaled[at->index];
    }
    y[0] += through_stack(x, n);
    y[n - 1] *= through_stack(scaled, n);
    while (list) {
        struct node *gone = list;
        list = list->next;
        free(gone);
    }
    free(scaled);
    free(fresh);
}

static double loss(const double *x)
{
    double copy[N], y[N], sum = 0.0;
    corpus_copy(copy, x, N);
    outputs(copy, y, N);
    for (int i = 0; i < N; i++)
        sum += (1.0 + 0.2 * i) * y[i];
    return sum;
}

static double point[N];

static void setup(void)
{
    corpus_seed(163);
    corpus_fill(point, N, 0.2, 0.9);
}

static double value(const double *x)
{
    return loss(x);
}

static double tangent(const double *x, const double *v)
{
    return __enzyme_fwddiff((void *)loss, enzyme_dup, x, v);
}

// Row by row, the last one first; then once more, all together.
static void gradient(const double *x, double *g)
{
    double copy[N], y[N], row[N], seed[N], all[N], wrong = 0.0;
    corpus_copy(copy, x, N);
    corpus_zero(g, N);
    void *tape = __enzyme_augmentfwd((void *)outputs, enzyme_dup, copy, row, enzyme_dup, y, seed, enzyme_const, N);
    for (int i = N - 1; i >= 0; i--) {
        corpus_zero(row, N);
        corpus_zero(seed, N);
        seed[i] = 1.0 + 0.2 * i;
        __enzyme_reverse((void *)outputs, enzyme_nofree, enzyme_dup, copy, row, enzyme_dup, y, seed, enzyme_const, N, tape);
        for (int k = 0; k < N; k++)
            g[k] += row[k];
    }
    corpus_zero(all, N);
    for (int i = 0; i < N; i++) {
        row[i] = 0.0;
        seed[i] = 1.0 + 0.2 * i;
    }
    __enzyme_reverse((void *)outputs, enzyme_dup, copy, row, enzyme_dup, y, seed, enzyme_const, N, tape);
    for (int k = 0; k < N; k++)
        wrong = fmax(wrong, fabs(row[k] - g[k]));
    // Sums of the same numbers in another order.
    if (wrong > 1e-11)
        g[0] = NAN;
}

// The same in two lanes, with the tape in memory of our own.
static void gradient_of_lanes(const double *x, double *g)
{
    double copy[N], y[N], rows[2][N], seeds[2][N];
    char memory[64];
    corpus_copy(copy, x, N);
    corpus_zero(g, N);
    __enzyme_augmentfwd_into((void *)outputs, enzyme_width, 2, enzyme_tape, memory, enzyme_dup, copy, rows[0], rows[1],
                             enzyme_dup, y, seeds[0], seeds[1], enzyme_const, N);
    for (int i = 0; i < N; i += 2) {
        for (int l = 0; l < 2; l++) {
            corpus_zero(rows[l], N);
            corpus_zero(seeds[l], N);
            if (i + l < N)
                seeds[l][i + l] = 1.0 + 0.2 * (i + l);
        }
        if (i + 2 < N)
            __enzyme_reverse((void *)outputs, enzyme_nofree, enzyme_width, 2, enzyme_tape, memory, enzyme_dup, copy, rows[0],
                             rows[1], enzyme_dup, y, seeds[0], seeds[1], enzyme_const, N);
        else
            __enzyme_reverse((void *)outputs, enzyme_width, 2, enzyme_tape, memory, enzyme_dup, copy, rows[0], rows[1],
                             enzyme_dup, y, seeds[0], seeds[1], enzyme_const, N);
        for (int k = 0; k < N; k++)
            g[k] += rows[0][k] + rows[1][k];
    }
}

static const struct corpus_problem problem = {
    .name = "tape_used_again",
    .size = N,
    .point = point,
    .setup = setup,
    .value = value,
    .tangent = tangent,
    .gradient = gradient,
    .variants = {{.name = "two lanes", .gradient = gradient_of_lanes}},
};

CORPUS_MAIN(&problem)
