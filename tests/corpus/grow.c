// A growing array (realloc by doubling) filled at both ends, with memmove to make room at the front: the orbit of the
// logistic map x <- r x (1 - x), every second element pushed to the front, until it leaves a window. Loss = weighted sum of
// the squares in the order of the array.
// Source: Strogatz, "Nonlinear Dynamics and Chaos", chapter 10.
#include "corpus.h"

struct list {
    double *items;
    size_t count, capacity;
};

static void reserve(struct list *list)
{
    if (list->count < list->capacity)
        return;
    list->capacity = list->capacity ? 2 * list->capacity : 1;
    list->items = realloc(list->items, sizeof(double) * list->capacity);
}

static void push_back(struct list *list, double item)
{
    reserve(list);
    list->items[list->count++] = item;
}

static void push_front(struct list *list, double item)
{
    reserve(list);
    memmove(list->items + 1, list->items, sizeof(double) * list->count);
    list->items[0] = item;
    list->count++;
}

static double orbit_loss(double x, double r, double window, int longest)
{
    struct list list = {NULL, 0, 0};
    double loss = 0.0;
    for (int step = 0; step < longest && x < window; step++) {
        if (step & 1)
            push_front(&list, x);
        else
            push_back(&list, x);
        x = r * x * (1.0 - x);
    }
    for (size_t i = 0; i < list.count; i++)
        loss += list.items[i] * list.items[i] / (double)(i + 1);
    free(list.items);
    return loss;
}

struct pair {
    double x, r;
};

CORPUS_MARKER(struct pair, __enzyme_autodiff_pair)

enum { LONGEST = CORPUS_SIZE(60, 12) };
static const double point[2] = {0.3, 3.3}, window = 0.9;
static const char *const labels[2] = {"x", "r"};

static double value(const double *x)
{
    return orbit_loss(x[0], x[1], window, LONGEST);
}

static double tangent(const double *x, const double *v)
{
    return __enzyme_fwddiff((void *)orbit_loss, enzyme_dup, x[0], v[0], enzyme_dup, x[1], v[1], enzyme_const, window,
                            enzyme_const, LONGEST);
}

static void gradient(const double *x, double *g)
{
    struct pair adjoints = __enzyme_autodiff_pair((void *)orbit_loss, enzyme_out, x[0], enzyme_out, x[1], enzyme_const,
                                                  window, enzyme_const, LONGEST);
    g[0] = adjoints.x;
    g[1] = adjoints.r;
}

static const struct corpus_problem problem = {
    .name = "grow",
    .size = 2,
    .point = point,
    .value = value,
    .tangent = tangent,
    .gradient = gradient,
    .labels = labels,
    .coordinates = CORPUS_ALL,
    .step = 1.0 / 4096.0,
};

CORPUS_MAIN(&problem)
