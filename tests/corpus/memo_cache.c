// A cache of function values with the least recently used entry replaced: a doubly linked list over a pool of nodes,
// moved to the front on a hit. Expensive scattering integrals are looked up by integer keys; active: the potential's
// parameters.
#include "corpus.h"

struct entry {
    int key, used;
    double value;
    struct entry *previous, *next;
};

struct cache {
    struct entry pool[6];
    struct entry *first, *last;
    int hits, misses;
};

static void unlink_entry(struct cache *c, struct entry *e)
{
    if (e->previous)
        e->previous->next = e->next;
    else
        c->first = e->next;
    if (e->next)
        e->next->previous = e->previous;
    else
        c->last = e->previous;
}

static void push_front(struct cache *c, struct entry *e)
{
    e->previous = NULL;
    e->next = c->first;
    if (c->first)
        c->first->previous = e;
    else
        c->last = e;
    c->first = e;
}

static void cache_init(struct cache *c)
{
    memset(c, 0, sizeof(*c));
    for (size_t i = 0; i < CORPUS_COUNT(c->pool); i++) {
        c->pool[i].key = -1;
        push_front(c, &c->pool[i]);
    }
}

static double integral(const double *p, int key)
{
    double sum = 0.0, wave = 0.3 + 0.1 * key;
    for (int i = 1; i < 40; i++) {
        double r = 0.1 * i;
        sum += 0.1 * r * sin(wave * r) * p[0] * exp(-p[1] * r) * (1.0 + p[2] * r * r);
    }
    return sum / wave;
}

static double cached(struct cache *c, const double *p, int key)
{
    struct entry *e = c->first;
    while (e && e->key != key)
        e = e->next;
    if (e) {
        c->hits++;
    } else {
        e = c->last;
        e->key = key;
        e->value = integral(p, key);
        c->misses++;
    }
    unlink_entry(c, e);
    push_front(c, e);
    e->used++;
    return e->value;
}

static double scattering_loss(const double *p, const int *keys, int count)
{
    struct cache cache;
    double loss = 0.0;
    cache_init(&cache);
    for (int i = 0; i < count; i++) {
        double amplitude = cached(&cache, p, keys[i]);
        loss += amplitude * amplitude * (1.0 + 0.01 * i);
    }
    return loss + 0.001 * cache.misses * p[0];
}

enum { COUNT = CORPUS_SIZE(120, 12), SIZE = 3 };

static double point[SIZE] = {1.3, 0.8, 0.2};
static int keys[COUNT];

static void setup(void)
{
    for (int i = 0; i < COUNT; i++)
        keys[i] = (i * i + i / 3) % 11;
}

static double value(const double *x)
{
    return scattering_loss(x, keys, COUNT);
}

static double tangent(const double *x, const double *v)
{
    return __enzyme_fwddiff((void *)scattering_loss, enzyme_dup, x, v, enzyme_const, keys, enzyme_const, COUNT);
}

static void gradient(const double *x, double *g)
{
    corpus_zero(g, SIZE);
    __enzyme_autodiff((void *)scattering_loss, enzyme_dup, x, g, enzyme_const, keys, enzyme_const, COUNT);
}

static const struct corpus_problem problem = {
    .name = "memo_cache",
    .size = SIZE,
    .point = point,
    .setup = setup,
    .value = value,
    .tangent = tangent,
    .gradient = gradient,
    .coordinates = CORPUS_ALL,
};

CORPUS_MAIN(&problem)
