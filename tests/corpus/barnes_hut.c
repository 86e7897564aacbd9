// Gravity by the Barnes-Hut method: a quadtree built by insertion into heap nodes with four children, centres of mass
// summed on the way, far nodes taken as a whole. Loss = potential energy + work of the accelerations. Active:
// positions, masses.
// Source: Barnes, Hut, Nature 324 (1986).
#include "corpus.h"

struct quad {
    double x, y, half;    // the square
    double mass, cx, cy;  // sum of mass, of mass times position
    const double *single; // the only particle, or null
    struct quad *child[4];
};

static struct quad *quad_new(double x, double y, double half)
{
    struct quad *q = calloc(1, sizeof(*q));
    q->x = x;
    q->y = y;
    q->half = half;
    return q;
}

static void insert(struct quad *q, const double *p)
{
    if (q->mass == 0.0) {
        q->single = p;
    } else {
        const double *moving[2] = {q->single, p};
        q->single = NULL;
        for (int m = 0; m < 2; m++) {
            if (!moving[m])
                continue;
            int which = (moving[m][0] > q->x) + 2 * (moving[m][1] > q->y);
            double half = 0.5 * q->half;
            if (!q->child[which])
                q->child[which] = quad_new(q->x + (which & 1 ? half : -half), q->y + (which & 2 ? half : -half), half);
            insert(q->child[which], moving[m]);
        }
    }
    q->mass += p[2];
    q->cx += p[2] * p[0];
    q->cy += p[2] * p[1];
}

static double potential(const struct quad *q, const double *p, double opening, double force[2])
{
    if (!q || q->single == p)
        return 0.0;
    double dx = q->cx / q->mass - p[0], dy = q->cy / q->mass - p[1], r2 = dx * dx + dy * dy + 1e-4, r = sqrt(r2);
    if (q->single || 2.0 * q->half < opening * r) {
        force[0] += q->mass * dx / (r2 * r);
        force[1] += q->mass * dy / (r2 * r);
        return -q->mass / r;
    }
    double sum = 0.0;
    for (int c = 0; c < 4; c++)
        sum += potential(q->child[c], p, opening, force);
    return sum;
}

static void destroy(struct quad *q)
{
    for (int c = 0; q && c < 4; c++)
        destroy(q->child[c]);
    free(q);
}

static double gravity_loss(const double *particles, int count, double opening)
{
    struct quad *root = quad_new(0.0, 0.0, 2.0);
    double loss = 0.0;
    for (int i = 0; i < count; i++)
        insert(root, particles + 3 * i);
    for (int i = 0; i < count; i++) {
        const double *p = particles + 3 * i;
        double force[2] = {0.0, 0.0};
        loss += 0.5 * p[2] * potential(root, p, opening, force) / count;
        loss += 1e-4 * (force[0] * p[0] + force[1] * p[1]);
    }
    destroy(root);
    return loss;
}

enum { COUNT = CORPUS_SIZE(50, 6), SIZE = 3 * COUNT };

static double point[SIZE];

static void setup(void)
{
    corpus_seed(218);
    for (int i = 0; i < COUNT; i++) {
        corpus_fill(point + 3 * i, 2, -1.0, 1.0);
        point[3 * i + 2] = corpus_uniform(0.5, 1.5);
    }
}

static double value(const double *x)
{
    return gravity_loss(x, COUNT, 0.6);
}

static double tangent(const double *x, const double *v)
{
    return __enzyme_fwddiff((void *)gravity_loss, enzyme_dup, x, v, enzyme_const, COUNT, enzyme_const, 0.6);
}

static void gradient(const double *x, double *g)
{
    corpus_zero(g, SIZE);
    __enzyme_autodiff((void *)gravity_loss, enzyme_dup, x, g, enzyme_const, COUNT, enzyme_const, 0.6);
}

static const struct corpus_problem problem = {
    .name = "barnes_hut",
    .size = SIZE,
    .point = point,
    .setup = setup,
    .value = value,
    .tangent = tangent,
    .gradient = gradient,
    .step = 0x1p-24, // the same nodes are opened
    .fd_tolerance = 1e-4, // rounding over a small step
};

CORPUS_MAIN(&problem)
