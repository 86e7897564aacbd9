// First arrival times by Dijkstra's method with a binary heap of structs (node, time) that are moved by assignment:
// travel time through a grid of slowness to several receivers; entries are superseded lazily. Active: slowness of the
// cells.
// Source: Dijkstra, Numerische Mathematik 1 (1959); Moser, Geophysics 56 (1991).
#include "corpus.h"

struct entry {
    int node;
    double time;
};

struct heap {
    struct entry *entries;
    int count, room;
};

static void heap_push(struct heap *heap, int node, double time)
{
    int i = heap->count++;
    while (i > 0 && heap->entries[(i - 1) / 2].time > time) {
        heap->entries[i] = heap->entries[(i - 1) / 2];
        i = (i - 1) / 2;
    }
    heap->entries[i].node = node;
    heap->entries[i].time = time;
}

static struct entry heap_pop(struct heap *heap)
{
    struct entry top = heap->entries[0], last = heap->entries[--heap->count];
    int i = 0;
    for (;;) {
        int child = 2 * i + 1;
        if (child >= heap->count)
            break;
        if (child + 1 < heap->count && heap->entries[child + 1].time < heap->entries[child].time)
            child++;
        if (heap->entries[child].time >= last.time)
            break;
        heap->entries[i] = heap->entries[child];
        i = child;
    }
    heap->entries[i] = last;
    return top;
}

static double arrival_loss(const double *slowness, int width, int height, const int *receivers, const double *picks,
                           int count)
{
    static const int moves[8][2] = {{1, 0}, {-1, 0}, {0, 1}, {0, -1}, {1, 1}, {1, -1}, {-1, 1}, {-1, -1}};
    int nodes = width * height;
    struct heap heap = {malloc(sizeof(struct entry) * 8 * (size_t)nodes), 0, 8 * nodes};
    double *time = malloc(sizeof(double) * (size_t)nodes), loss = 0.0;
    for (int i = 0; i < nodes; i++)
        time[i] = HUGE_VAL;
    time[0] = 0.0;
    heap_push(&heap, 0, 0.0);
    while (heap.count > 0) {
        struct entry e = heap_pop(&heap);
        if (e.time > time[e.node])
            continue;
        int x = e.node % width, y = e.node / width;
        for (int m = 0; m < 8; m++) {
            int u = x + moves[m][0], v = y + moves[m][1], next = v * width + u;
            if (u < 0 || v < 0 || u >= width || v >= height)
                continue;
            double length = m < 4 ? 1.0 : 1.4142135623730951;
            double arrival = e.time + 0.5 * length * (slowness[e.node] + slowness[next]);
            if (arrival < time[next]) {
                time[next] = arrival;
                heap_push(&heap, next, arrival);
            }
        }
    }
    for (int r = 0; r < count; r++)
        loss += (time[receivers[r]] - picks[r]) * (time[receivers[r]] - picks[r]);
    free(time);
    free(heap.entries);
    return loss;
}

enum { WIDTH = CORPUS_SIZE(16, 4), HEIGHT = CORPUS_SIZE(12, 4), RECEIVERS = 6, SIZE = WIDTH * HEIGHT };

static double point[SIZE], picks[RECEIVERS];
static int receivers[RECEIVERS];

static void setup(void)
{
    corpus_seed(195);
    corpus_fill(point, SIZE, 0.5, 1.5);
    for (int r = 0; r < RECEIVERS; r++) {
        receivers[r] = SIZE - 1 - r * (WIDTH - 1) / 2;
        picks[r] = 5.0 + 0.5 * r;
    }
}

static double value(const double *x)
{
    return arrival_loss(x, WIDTH, HEIGHT, receivers, picks, RECEIVERS);
}

static double tangent(const double *x, const double *v)
{
    return __enzyme_fwddiff((void *)arrival_loss, enzyme_dup, x, v, enzyme_const, WIDTH, enzyme_const, HEIGHT,
                            enzyme_const, receivers, enzyme_const, picks, enzyme_const, RECEIVERS);
}

static void gradient(const double *x, double *g)
{
    corpus_zero(g, SIZE);
    __enzyme_autodiff((void *)arrival_loss, enzyme_dup, x, g, enzyme_const, WIDTH, enzyme_const, HEIGHT, enzyme_const,
                      receivers, enzyme_const, picks, enzyme_const, RECEIVERS);
}

static const struct corpus_problem problem = {
    .name = "eikonal_heap",
    .size = SIZE,
    .point = point,
    .setup = setup,
    .value = value,
    .tangent = tangent,
    .gradient = gradient,
    .step = 0x1p-22, // the same paths are shortest
    .fd_tolerance = 1e-5, // rounding over a small step
};

CORPUS_MAIN(&problem)
