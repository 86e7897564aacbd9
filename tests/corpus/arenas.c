// Memory from the program's own allocators, of which it says that they are allocators: a pool with a free list, whose bookkeeping lies
// before each block, and a counted heap that is passed along. Linked states of a leapfrog integrator live in one, work space in the other;
// some are freed at once, some by another function, some at the end.
// Source of the scheme: Hairer, Lubich, Wanner, "Geometric Numerical Integration", section I.1.4.
//
// corpus: link O2
#include "corpus.h"

enum { N = 6, STEPS = CORPUS_SIZE(8, 3) };

// A pool: blocks of one size are used again.
struct block {
    struct block *next;
    unsigned long bytes;
};

static struct block *unused;
static long in_use;

__attribute__((noinline)) static void *pool_take(unsigned long bytes)
{
    struct block **at = &unused;
    while (*at && (*at)->bytes < bytes)
        at = &(*at)->next;
    struct block *found = *at;
    if (found)
        *at = found->next;
    else {
        found = (struct block *)malloc(sizeof *found + bytes);
        found->bytes = bytes;
    }
    in_use++;
    return found + 1;
}

__attribute__((noinline)) static void pool_give(void *memory)
{
    if (!memory)
        return;
    struct block *back = (struct block *)memory - 1;
    back->next = unused;
    unused = back;
    in_use--;
}

void *__enzyme_allocation_like_pool[4] = {(void *)pool_take, (void *)0, (void *)"-1", (void *)pool_give};

// A heap that is an argument of both.
struct heap {
    long blocks;
};

__attribute__((noinline)) static double *heap_take(struct heap *heap, unsigned long bytes)
{
    heap->blocks++;
    return (double *)malloc(bytes);
}

__attribute__((noinline)) static void heap_give(struct heap *heap, double *memory)
{
    heap->blocks--;
    free(memory);
}

void *__enzyme_allocation_like_heap[4] = {(void *)heap_take, (void *)1, (void *)"0,-1", (void *)heap_give};

static struct heap scratch;

struct state {
    struct state *before;
    double x[N], v[N];
};

static double force(const double *x, int i)
{
    return -sin(x[i]) + 0.3 * (x[(i + 1) % N] - x[i]) * x[(i + N - 1) % N];
}

static struct state *advance(struct state *now, double step)
{
    struct state *next = (struct state *)pool_take(sizeof *next);
    double *half = heap_take(&scratch, N * sizeof *half);
    next->before = now;
    for (int i = 0; i < N; i++)
        half[i] = now->v[i] + 0.5 * step * force(now->x, i);
    for (int i = 0; i < N; i++)
        next->x[i] = now->x[i] + step * half[i];
    for (int i = 0; i < N; i++)
        next->v[i] = half[i] + 0.5 * step * force(next->x, i);
    heap_give(&scratch, half);
    return next;
}

__attribute__((noinline)) static void give_back(struct state *last)
{
    while (last) {
        struct state *before = last->before;
        pool_give(last);
        last = before;
    }
}

static double loss(const double *start, int steps)
{
    struct state *now = (struct state *)pool_take(sizeof *now);
    now->before = 0;
    for (int i = 0; i < N; i++) {
        now->x[i] = start[i];
        now->v[i] = start[N + i];
    }
    for (int t = 0; t < steps; t++)
        now = advance(now, 0.1);
    double sum = 0.0;
    for (struct state *at = now; at; at = at->before)
        for (int i = 0; i < N; i++)
            sum += 0.5 * at->x[i] * at->x[i] + at->v[i] * at->x[(i + 1) % N];
    give_back(now);
    return sum;
}

static double point[2 * N];

static void setup(void)
{
    corpus_seed(95);
    corpus_fill(point, 2 * N, -1.0, 1.0);
}

static double value(const double *x)
{
    return loss(x, STEPS);
}

static double tangent(const double *x, const double *v)
{
    return __enzyme_fwddiff((void *)loss, enzyme_dup, x, v, enzyme_const, STEPS);
}

static void gradient(const double *x, double *g)
{
    corpus_zero(g, 2 * N);
    __enzyme_autodiff_void((void *)loss, enzyme_dup, x, g, enzyme_const, STEPS);
}

static int extra(void)
{
    int failed = corpus_check("arenas", "blocks of the pool that are in use", (double)in_use, 0.0);
    failed += corpus_check("arenas", "blocks of the heap that are in use", (double)scratch.blocks, 0.0);
    while (unused) {
        struct block *next = unused->next;
        free(unused);
        unused = next;
    }
    return failed;
}

static const struct corpus_problem problem = {
    .name = "arenas",
    .size = 2 * N,
    .point = point,
    .setup = setup,
    .value = value,
    .tangent = tangent,
    .gradient = gradient,
    .extra = extra,
};

CORPUS_MAIN(&problem)
