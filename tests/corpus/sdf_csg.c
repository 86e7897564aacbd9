// Signed distances of a solid made by smooth unions, intersections and differences: nodes of a tree refer to each
// other by index in one array; rays are marched until they are close. Loss = depth image error. Active: all primitive
// parameters.
// Source: Hart, "Sphere tracing", The Visual Computer 12 (1996).
#include "corpus.h"

enum shape { BALL, BRICK, TORUS, UNITE, CARVE };

struct solid {
    unsigned char shape;
    short left, right;
    double p[5];
};

static double smooth_minimum(double a, double b, double k)
{
    double h = 0.5 + 0.5 * (b - a) / k;
    if (h <= 0.0)
        return b;
    if (h >= 1.0)
        return a;
    return b + h * (a - b) - k * h * (1.0 - h);
}

static double distance(const struct solid *nodes, int at, const double *q)
{
    const struct solid *n = &nodes[at];
    double d[3], side, outside = 0.0, inside = -HUGE_VAL;
    switch ((enum shape)n->shape) {
    case UNITE:
        return smooth_minimum(distance(nodes, n->left, q), distance(nodes, n->right, q), n->p[0]);
    case CARVE:
        return -smooth_minimum(-distance(nodes, n->left, q), distance(nodes, n->right, q), n->p[0]);
    default:
        break;
    }
    for (int i = 0; i < 3; i++)
        d[i] = q[i] - n->p[i];
    if (n->shape == BALL)
        return sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]) - n->p[3];
    if (n->shape == TORUS) {
        side = sqrt(d[0] * d[0] + d[2] * d[2]) - n->p[3];
        return sqrt(side * side + d[1] * d[1]) - n->p[4];
    }
    for (int i = 0; i < 3; i++) {
        side = fabs(d[i]) - n->p[3];
        inside = side > inside ? side : inside;
        outside += side > 0.0 ? side * side : 0.0;
    }
    return (outside > 0.0 ? sqrt(outside) : inside) - n->p[4];
}

static int march(const struct solid *nodes, int root, double x, double y, double *depth)
{
    double t = 0.0;
    for (int step = 0; step < 60; step++) {
        double q[3] = {x, y, t - 4.0}, d = distance(nodes, root, q);
        t += d;
        if (d < 1e-4) {
            *depth = t;
            return 1;
        }
        if (t > 10.0)
            break;
    }
    return 0;
}

static double depth_loss(const struct solid *nodes, int root, int side)
{
    double loss = 0.0;
    int hits = 0;
    for (int y = 0; y < side; y++)
        for (int x = 0; x < side; x++) {
            double depth;
            if (!march(nodes, root, 2.4 * (x + 0.5) / side - 1.2, 2.4 * (y + 0.5) / side - 1.2, &depth))
                continue;
            loss += (depth - 3.1) * (depth - 3.1);
            hits++;
        }
    return hits ? loss / hits : 0.0;
}

enum { NODES = 7, SIDE = CORPUS_SIZE(9, 3), SIZE = 5 * NODES };

static double point[SIZE];
static struct solid params[NODES], shadow[NODES];

static void setup(void)
{
    static const double start[NODES][5] = {{0.3},
                                           {0.2},
                                           {0.25},
                                           {0.3, 0.2, 0.0, 0.7},
                                           {-0.4, -0.2, 0.1, 0.5, 0.1},
                                           {0.2, 0.0, 0.1, 0.8, 0.2},
                                           {0.4, 0.5, -0.6, 0.4}};
    memcpy(point, start, sizeof(start));
}

static void pack(struct solid *to, const double *x)
{
    static const struct solid tree[NODES] = {
        {UNITE, 1, 5, {0}},  {CARVE, 2, 6, {0}},  {UNITE, 3, 4, {0}}, {BALL, -1, -1, {0}},
        {BRICK, -1, -1, {0}}, {TORUS, -1, -1, {0}}, {BALL, -1, -1, {0}},
    };
    memcpy(to, tree, sizeof(tree));
    for (int i = 0; i < NODES; i++)
        memcpy(to[i].p, x + 5 * i, sizeof(to[i].p));
}

static void unpack(const struct solid *from, double *g)
{
    for (int i = 0; i < NODES; i++)
        corpus_copy(g + 5 * i, from[i].p, 5);
}

static double value(const double *x)
{
    pack(params, x);
    return depth_loss(params, 0, SIDE);
}

static double tangent(const double *x, const double *v)
{
    pack(params, x);
    pack(shadow, v);
    return __enzyme_fwddiff((void *)depth_loss, enzyme_dup, params, shadow, enzyme_const, 0, enzyme_const, SIDE);
}

static void gradient(const double *x, double *g)
{
    pack(params, x);
    memset(shadow, 0, sizeof(shadow));
    __enzyme_autodiff((void *)depth_loss, enzyme_dup, params, shadow, enzyme_const, 0, enzyme_const, SIDE);
    unpack(shadow, g);
}

static const struct corpus_problem problem = {
    .name = "sdf_csg",
    .size = SIZE,
    .point = point,
    .setup = setup,
    .value = value,
    .tangent = tangent,
    .gradient = gradient,
    .step = 0x1p-22, // no ray takes another step
    .fd_tolerance = 1e-4, // rounding over a small step
};

CORPUS_MAIN(&problem)
