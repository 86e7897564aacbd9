// A flexible array member: a header and its samples in one allocation, which is copied, extended and freed as a
// whole. A piecewise linear path through weighted way points is refined by midpoint insertion and smoothed, its
// length is the loss.
#include "corpus.h"

struct path {
    int count;
    char name[8];
    double smoothing;
    struct {
        float weight;
        double x, y;
    } points[];
};

static struct path *path_new(int count, double smoothing)
{
    struct path *path = malloc(sizeof(*path) + (size_t)count * sizeof(path->points[0]));
    path->count = count;
    path->smoothing = smoothing;
    memset(path->name, 0, sizeof(path->name));
    return path;
}

static struct path *path_clone(const struct path *from)
{
    size_t size = sizeof(*from) + (size_t)from->count * sizeof(from->points[0]);
    struct path *copy = malloc(size);
    memcpy(copy, from, size);
    return copy;
}

static struct path *refine(struct path *path)
{
    struct path *fine = path_new(2 * path->count - 1, 0.5 * path->smoothing);
    for (int i = 0; i < path->count; i++) {
        fine->points[2 * i] = path->points[i];
        if (i + 1 < path->count) {
            fine->points[2 * i + 1] = path->points[i];
            fine->points[2 * i + 1].weight = 1.0f;
            fine->points[2 * i + 1].x = 0.5 * (path->points[i].x + path->points[i + 1].x);
            fine->points[2 * i + 1].y = 0.5 * (path->points[i].y + path->points[i + 1].y);
        }
    }
    free(path);
    return fine;
}

static void smooth(struct path *path)
{
    struct path *old = path_clone(path);
    for (int i = 1; i + 1 < path->count; i++) {
        double s = path->smoothing * path->points[i].weight;
        path->points[i].x += s * (old->points[i - 1].x - 2.0 * old->points[i].x + old->points[i + 1].x);
        path->points[i].y += s * (old->points[i - 1].y - 2.0 * old->points[i].y + old->points[i + 1].y);
    }
    free(old);
}

static double length(const struct path *path)
{
    double sum = 0.0;
    for (int i = 1; i < path->count; i++)
        sum += hypot(path->points[i].x - path->points[i - 1].x, path->points[i].y - path->points[i - 1].y);
    return sum;
}

static double path_loss(const double *x, int count, int levels)
{
    struct path *path = path_new(count, x[2 * count]);
    strcpy(path->name, "first");
    for (int i = 0; i < count; i++) {
        path->points[i].weight = i % 3 ? 0.75f : 0.5f;
        path->points[i].x = x[2 * i];
        path->points[i].y = x[2 * i + 1];
    }
    double loss = 0.0;
    for (int level = 0; level < levels; level++) {
        path = refine(path);
        smooth(path);
        loss += length(path) * (1 + level);
    }
    free(path);
    return loss;
}

enum { COUNT = CORPUS_SIZE(10, 3), LEVELS = CORPUS_SIZE(4, 2), SIZE = 2 * COUNT + 1 };

static double point[SIZE];

static void setup(void)
{
    corpus_seed(115);
    for (int i = 0; i < COUNT; i++) {
        point[2 * i] = i + corpus_uniform(-0.3, 0.3);
        point[2 * i + 1] = corpus_uniform(-1.0, 1.0);
    }
    point[2 * COUNT] = 0.3;
}

static double value(const double *x)
{
    return path_loss(x, COUNT, LEVELS);
}

static double tangent(const double *x, const double *v)
{
    return __enzyme_fwddiff((void *)path_loss, enzyme_dup, x, v, enzyme_const, COUNT, enzyme_const, LEVELS);
}

static void gradient(const double *x, double *g)
{
    corpus_zero(g, SIZE);
    __enzyme_autodiff((void *)path_loss, enzyme_dup, x, g, enzyme_const, COUNT, enzyme_const, LEVELS);
}

static const struct corpus_problem problem = {
    .name = "flexible_path",
    .size = SIZE,
    .point = point,
    .setup = setup,
    .value = value,
    .tangent = tangent,
    .gradient = gradient,
};

CORPUS_MAIN(&problem)
