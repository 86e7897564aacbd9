// Pointers to active memory that a function only moves, inside of structures and over memory of its own: by value and
// back, through a local copy that it changes, through a buffer that it allocates, and over two functions.
//
// loss = sum of what is read through the pointers where they arrive, weighted by the scalars beside them.
// Source: none; the shapes are those of handles (array, length, tag) that programs pass around by value.
#include "corpus.h"

enum { SIZE = 24 };

struct handle {
    double scale;
    int first;
    double *data;
    char tag;
};

__attribute__((noinline)) static struct handle scaled(struct handle h, double by)
{
    h.scale = sin(h.scale * by);
    return h;
}

__attribute__((noinline)) static void moved(struct handle *to, const struct handle *from, int by)
{
    struct handle local[2];
    memcpy(&local[by & 1], from, sizeof *from);
    local[by & 1].first += by;
    memcpy(to, &local[by & 1], sizeof *to);
}

__attribute__((noinline)) static void swapped(struct handle *a, struct handle *b)
{
    struct handle *kept = malloc(2 * sizeof *kept);
    memcpy(kept, a, sizeof *a);
    memcpy(kept + 1, b, sizeof *b);
    memcpy(a, kept + 1, sizeof *a);
    memcpy(b, kept, sizeof *b);
    free(kept);
}

__attribute__((noinline)) static struct handle both(struct handle h, int by)
{
    struct handle out;
    moved(&out, &h, by);
    return scaled(out, 1.25);
}

__attribute__((noinline)) static double read(const struct handle *h)
{
    return h->scale * h->data[h->first] * h->data[h->first + 1];
}

static double loss(double *x)
{
    struct handle table[4];
    for (int i = 0; i < 4; i++)
        table[i] = (struct handle){.scale = x[i], .first = i, .data = x + 4 + 5 * i, .tag = (char)i};
    struct handle h = scaled(table[1], 0.75), k, plain = {.scale = 0.5, .data = x + 6};
    moved(&k, &table[2], 1);
    swapped(&table[0], &table[3]);
    struct handle l = both(table[3], 2), m = both(plain, 1);
    return read(&h) + 2.0 * read(&k) + 3.0 * read(&table[0]) + 4.0 * read(&l) + 0.75 * m.data[m.first] + m.scale;
}

static double point[SIZE], work[SIZE];

static void setup(void)
{
    corpus_seed(138);
    corpus_fill(point, SIZE, 0.2, 0.9);
}

static double value(const double *x)
{
    corpus_copy(work, x, SIZE);
    return loss(work);
}

static double tangent(const double *x, const double *v)
{
    double shadow[SIZE];
    corpus_copy(work, x, SIZE);
    corpus_copy(shadow, v, SIZE);
    return __enzyme_fwddiff((void *)loss, enzyme_dup, work, shadow);
}

static void gradient(const double *x, double *g)
{
    corpus_copy(work, x, SIZE);
    corpus_zero(g, SIZE);
    __enzyme_autodiff((void *)loss, enzyme_dup, work, g);
}

static const struct corpus_problem problem = {
    .name = "copies_on_the_way",
    .size = SIZE,
    .point = point,
    .setup = setup,
    .value = value,
    .tangent = tangent,
    .gradient = gradient,
};

CORPUS_MAIN(&problem)
