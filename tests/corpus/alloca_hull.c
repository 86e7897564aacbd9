// Work space from alloca in a recursive function: the convex hull's perimeter by quickhull, where each call
// partitions the points outside its edge into arrays on its own stack frame.
// Source: Barber, Dobkin, Huhdanpaa, ACM Trans. Math. Software 22 (1996), in the plane.
#include "corpus.h"
#include <alloca.h>

struct vertex {
    double x, y;
    int index;
};

static double side(const struct vertex *a, const struct vertex *b, const struct vertex *p)
{
    return (b->x - a->x) * (p->y - a->y) - (b->y - a->y) * (p->x - a->x);
}

static double distance(const struct vertex *a, const struct vertex *b)
{
    return hypot(b->x - a->x, b->y - a->y);
}

static double chain_length(const struct vertex *a, const struct vertex *b, const struct vertex *points, int count)
{
    struct vertex *outside = alloca(sizeof(struct vertex) * (size_t)(count + 1));
    int kept = 0, farthest = -1;
    double largest = 0.0;
    for (int i = 0; i < count; i++) {
        double s = side(a, b, &points[i]);
        if (s <= 1e-12)
            continue;
        if (s > largest) {
            largest = s;
            farthest = kept;
        }
        outside[kept++] = points[i];
    }
    if (farthest < 0)
        return distance(a, b);
    struct vertex apex = outside[farthest];
    return chain_length(a, &apex, outside, kept) + chain_length(&apex, b, outside, kept);
}

static double hull_perimeter(const double *x, int count)
{
    struct vertex *points = alloca(sizeof(struct vertex) * (size_t)count);
    int left = 0, right = 0;
    for (int i = 0; i < count; i++) {
        points[i] = (struct vertex){x[2 * i], x[2 * i + 1], i};
        if (points[i].x < points[left].x)
            left = i;
        if (points[i].x > points[right].x)
            right = i;
    }
    return chain_length(&points[left], &points[right], points, count) +
           chain_length(&points[right], &points[left], points, count);
}

enum { COUNT = CORPUS_SIZE(80, 8), SIZE = 2 * COUNT };

static double point[SIZE];

static void setup(void)
{
    corpus_seed(117);
    for (int i = 0; i < COUNT; i++) {
        double r = i % 4 == 0 ? 1.0 : corpus_uniform(0.1, 0.9), a = corpus_uniform(0.0, 6.28);
        point[2 * i] = r * cos(a);
        point[2 * i + 1] = r * sin(a);
    }
}

static double value(const double *x)
{
    return hull_perimeter(x, COUNT);
}

static double tangent(const double *x, const double *v)
{
    return __enzyme_fwddiff((void *)hull_perimeter, enzyme_dup, x, v, enzyme_const, COUNT);
}

static void gradient(const double *x, double *g)
{
    corpus_zero(g, SIZE);
    __enzyme_autodiff((void *)hull_perimeter, enzyme_dup, x, g, enzyme_const, COUNT);
}

static const struct corpus_problem problem = {
    .name = "alloca_hull",
    .size = SIZE,
    .point = point,
    .setup = setup,
    .value = value,
    .tangent = tangent,
    .gradient = gradient,
    .step = 0x1p-16, // the corners of the hull stay the same
    .fd_tolerance = 1e-6, // rounding over a small step
};

CORPUS_MAIN(&problem)
