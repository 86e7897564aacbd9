// corpus: valgrind
// A sparse matrix builder: triplets (row, column, value) in an array that grows by realloc, sorted by a shell sort of
// whole structs, duplicates merged in place, then compressed; graph Laplacian diffusion with the result. Active: edge
// weights.
#include "corpus.h"

struct triplet {
    int row, column;
    double value;
};

struct builder {
    struct triplet *items;
    size_t count, room;
};

static void add(struct builder *b, int row, int column, double value)
{
    if (b->count == b->room) {
        b->room += b->room / 2 + 8;
        b->items = realloc(b->items, b->room * sizeof(struct triplet));
    }
    b->items[b->count++] = (struct triplet){row, column, value};
}

static int before(const struct triplet *a, const struct triplet *b)
{
    return a->row != b->row ? a->row < b->row : a->column < b->column;
}

static void sort_and_merge(struct builder *b)
{
    for (size_t gap = b->count / 2; gap > 0; gap /= 2)
        for (size_t i = gap; i < b->count; i++) {
            struct triplet moving = b->items[i];
            size_t j = i;
            for (; j >= gap && before(&moving, &b->items[j - gap]); j -= gap)
                b->items[j] = b->items[j - gap];
            b->items[j] = moving;
        }
    size_t kept = 0;
    for (size_t i = 0; i < b->count; i++) {
        if (kept > 0 && b->items[kept - 1].row == b->items[i].row && b->items[kept - 1].column == b->items[i].column)
            b->items[kept - 1].value += b->items[i].value;
        else
            b->items[kept++] = b->items[i];
    }
    b->count = kept;
    b->items = realloc(b->items, kept * sizeof(struct triplet)); // shrinks
}

static double diffusion_loss(const double *weights, const int (*edges)[2], int edge_count, int n, int steps)
{
    struct builder b = {NULL, 0, 0};
    double *u = calloc((size_t)n, sizeof(double)), *next = malloc(sizeof(double) * (size_t)n), loss = 0.0;
    for (int e = 0; e < edge_count; e++) {
        int i = edges[e][0], j = edges[e][1];
        add(&b, i, i, -weights[e]);
        add(&b, j, j, -weights[e]);
        add(&b, i, j, weights[e]);
        add(&b, j, i, weights[e]);
    }
    sort_and_merge(&b);
    u[0] = 1.0;
    for (int t = 0; t < steps; t++) {
        memcpy(next, u, sizeof(double) * (size_t)n);
        for (const struct triplet *k = b.items; k < b.items + b.count; k++)
            next[k->row] += 0.1 * k->value * u[k->column];
        memcpy(u, next, sizeof(double) * (size_t)n);
    }
    for (int i = 0; i < n; i++)
        loss += u[i] * u[i] * (1 + i);
    free(next);
    free(u);
    free(b.items);
    return loss;
}

enum { N = CORPUS_SIZE(15, 4), SIZE = 3 * N, STEPS = CORPUS_SIZE(20, 3) };

static double point[SIZE];
static int edges[SIZE][2];

static void setup(void)
{
    corpus_seed(200);
    corpus_fill(point, SIZE, 0.2, 1.0);
    for (int e = 0; e < SIZE; e++) {
        edges[e][0] = e % N;
        edges[e][1] = (e * 7 + 3) % N;
        if (edges[e][0] == edges[e][1])
            edges[e][1] = (edges[e][1] + 1) % N;
    }
}

static double value(const double *x)
{
    return diffusion_loss(x, (const int (*)[2])edges, SIZE, N, STEPS);
}

static double tangent(const double *x, const double *v)
{
    return __enzyme_fwddiff((void *)diffusion_loss, enzyme_dup, x, v, enzyme_const, (const int (*)[2])edges,
                            enzyme_const, SIZE, enzyme_const, N, enzyme_const, STEPS);
}

static void gradient(const double *x, double *g)
{
    corpus_zero(g, SIZE);
    __enzyme_autodiff((void *)diffusion_loss, enzyme_dup, x, g, enzyme_const, (const int (*)[2])edges, enzyme_const,
                      SIZE, enzyme_const, N, enzyme_const, STEPS);
}

static const struct corpus_problem problem = {
    .name = "triplets",
    .size = SIZE,
    .point = point,
    .setup = setup,
    .value = value,
    .tangent = tangent,
    .gradient = gradient,
};

CORPUS_MAIN(&problem)
