// corpus: valgrind
// An arena allocator: vectors and list nodes are carved out of blocks of raw bytes, which are chained, grown on
// demand and freed all at once; between sentences of work the arena is reset and its bytes are used again, for other
// types.
//
//   loss = sum_k |softmax(A_k x)|^2 + a weighted list of the largest entries
#include "corpus.h"

struct block {
    struct block *previous;
    size_t size, used;
    unsigned char *bytes;
};

struct arena {
    struct block *top;
};

static void *arena_take(struct arena *arena, size_t size)
{
    size = (size + 15) & ~(size_t)15;
    if (!arena->top || arena->top->used + size > arena->top->size) {
        struct block *block = malloc(sizeof(struct block));
        block->size = size > 512 ? size : 512;
        block->bytes = malloc(block->size);
        block->used = 0;
        block->previous = arena->top;
        arena->top = block;
    }
    void *memory = arena->top->bytes + arena->top->used;
    arena->top->used += size;
    return memory;
}

static void arena_reset(struct arena *arena)
{
    for (struct block *block = arena->top; block; block = block->previous)
        block->used = 0;
}

static void arena_free(struct arena *arena)
{
    while (arena->top) {
        struct block *block = arena->top;
        arena->top = block->previous;
        free(block->bytes);
        free(block);
    }
}

struct peak {
    int index;
    double height;
    struct peak *next;
};

static double *softmax(struct arena *arena, const double *values, int n)
{
    double *result = arena_take(arena, sizeof(double) * (size_t)n);
    double largest = values[0], sum = 0.0;
    for (int i = 1; i < n; i++)
        if (values[i] > largest)
            largest = values[i];
    for (int i = 0; i < n; i++)
        sum += result[i] = exp(values[i] - largest);
    for (int i = 0; i < n; i++)
        result[i] /= sum;
    return result;
}

static double arena_loss(const double *x, int n, const double *matrices, int count)
{
    struct arena arena = {NULL};
    double loss = 0.0;
    for (int k = 0; k < count; k++) {
        const double *matrix = matrices + k * n * n;
        double *product = arena_take(&arena, sizeof(double) * (size_t)n);
        for (int i = 0; i < n; i++) {
            product[i] = 0.0;
            for (int j = 0; j < n; j++)
                product[i] += matrix[i * n + j] * x[j];
        }
        double *probability = softmax(&arena, product, n);
        struct peak *peaks = NULL;
        for (int i = 0; i < n; i++) {
            loss += probability[i] * probability[i];
            if (probability[i] > 1.0 / n) {
                struct peak *peak = arena_take(&arena, sizeof(struct peak));
                peak->index = i;
                peak->height = probability[i];
                peak->next = peaks;
                peaks = peak;
            }
        }
        for (struct peak *peak = peaks; peak; peak = peak->next)
            loss += (1.0 + peak->index) / n * peak->height;
        arena_reset(&arena);
    }
    arena_free(&arena);
    return loss;
}

enum { SIZE = CORPUS_SIZE(18, 4), COUNT = CORPUS_SIZE(6, 2) };

static double point[SIZE], matrices[COUNT * SIZE * SIZE];

static void setup(void)
{
    corpus_seed(105);
    corpus_fill(point, SIZE, -1.0, 1.0);
    corpus_fill(matrices, COUNT * SIZE * SIZE, -1.0, 1.0);
}

static double value(const double *x)
{
    return arena_loss(x, SIZE, matrices, COUNT);
}

static double tangent(const double *x, const double *v)
{
    return __enzyme_fwddiff((void *)arena_loss, enzyme_dup, x, v, enzyme_const, SIZE, enzyme_const, matrices,
                            enzyme_const, COUNT);
}

static void gradient(const double *x, double *g)
{
    corpus_zero(g, SIZE);
    __enzyme_autodiff((void *)arena_loss, enzyme_dup, x, g, enzyme_const, SIZE, enzyme_const, matrices, enzyme_const,
                      COUNT);
}

static const struct corpus_problem problem = {
    .name = "arena",
    .size = SIZE,
    .point = point,
    .setup = setup,
    .value = value,
    .tangent = tangent,
    .gradient = gradient,
    .step = 0x1p-12, // no probability crosses 1/n
};

CORPUS_MAIN(&problem)
