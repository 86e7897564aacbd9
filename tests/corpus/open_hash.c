// Sparse fields in an open-addressing hash table that doubles when two thirds full: keys are packed grid coordinates,
// slots are structs of key, state byte and value. A heat blob spreads over an unbounded grid. Active: sources and
// diffusion.
#include "corpus.h"

struct slot {
    uint64_t key;
    unsigned char used;
    double value;
};

struct map {
    struct slot *slots;
    size_t room, count;
};

static uint64_t pack_key(int x, int y)
{
    return (uint64_t)(uint32_t)x << 32 | (uint32_t)y;
}

static struct slot *probe(const struct map *m, uint64_t key)
{
    size_t i = (size_t)((key * 0x9E3779B97F4A7C15u) >> 40) & (m->room - 1);
    while (m->slots[i].used && m->slots[i].key != key)
        i = (i + 1) & (m->room - 1);
    return &m->slots[i];
}

static struct map map_new(size_t room)
{
    return (struct map){calloc(room, sizeof(struct slot)), room, 0};
}

static double *map_at(struct map *m, uint64_t key)
{
    if (3 * (m->count + 1) > 2 * m->room) {
        struct map larger = map_new(2 * m->room);
        for (size_t i = 0; i < m->room; i++)
            if (m->slots[i].used)
                *probe(&larger, m->slots[i].key) = m->slots[i];
        larger.count = m->count;
        free(m->slots);
        *m = larger;
    }
    struct slot *slot = probe(m, key);
    if (!slot->used) {
        slot->used = 1;
        slot->key = key;
        slot->value = 0.0;
        m->count++;
    }
    return &slot->value;
}

static double spreading_loss(const double *sources, int count, double diffusion, int steps)
{
    static const int moves[4][2] = {{1, 0}, {-1, 0}, {0, 1}, {0, -1}};
    struct map now = map_new(8);
    double loss = 0.0;
    for (int s = 0; s < count; s++)
        *map_at(&now, pack_key(3 * s - 4, s * s % 5)) += sources[s];
    for (int t = 0; t < steps; t++) {
        struct map next = map_new(16);
        for (size_t i = 0; i < now.room; i++) {
            const struct slot *slot = &now.slots[i];
            if (!slot->used || fabs(slot->value) < 1e-3)
                continue;
            int x = (int)(uint32_t)(slot->key >> 32), y = (int)(uint32_t)slot->key;
            *map_at(&next, slot->key) += slot->value * (1.0 - 4.0 * diffusion);
            for (int m = 0; m < 4; m++)
                *map_at(&next, pack_key(x + moves[m][0], y + moves[m][1])) += diffusion * slot->value;
        }
        free(now.slots);
        now = next;
    }
    for (size_t i = 0; i < now.room; i++)
        if (now.slots[i].used) {
            int x = (int)(uint32_t)(now.slots[i].key >> 32);
            loss += now.slots[i].value * now.slots[i].value * (1.0 + 0.1 * x * x);
        }
    free(now.slots);
    return loss;
}

enum { COUNT = CORPUS_SIZE(6, 2), STEPS = CORPUS_SIZE(6, 2), SIZE = COUNT + 1 };

static double point[SIZE];

static void setup(void)
{
    corpus_seed(215);
    corpus_fill(point, COUNT, 0.5, 1.5);
    point[COUNT] = 0.15;
}

static double loss(const double *x)
{
    return spreading_loss(x, COUNT, x[COUNT], STEPS);
}

static double value(const double *x)
{
    return loss(x);
}

static double tangent(const double *x, const double *v)
{
    return __enzyme_fwddiff((void *)loss, enzyme_dup, x, v);
}

static void gradient(const double *x, double *g)
{
    corpus_zero(g, SIZE);
    __enzyme_autodiff((void *)loss, enzyme_dup, x, g);
}

static const struct corpus_problem problem = {
    .name = "open_hash",
    .size = SIZE,
    .point = point,
    .setup = setup,
    .value = value,
    .tangent = tangent,
    .gradient = gradient,
    .coordinates = CORPUS_ALL,
    .step = 0x1p-22, // no value crosses the threshold
    .fd_tolerance = 1e-5, // rounding over a small step
};

CORPUS_MAIN(&problem)
