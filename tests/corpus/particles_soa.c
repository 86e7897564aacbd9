// Charged particles in a box with friction, stored as a struct of arrays that is passed by pointer. Its shadow is a struct
// of the same shape whose pointers point to the shadow arrays and whose integers are those of the primal.
// Particles bounce off the walls (a branch on active data). Loss = sum q_i (x_i^2 + y_i^2) after the last step.
#include "corpus.h"

struct particles {
    int count;
    double *x, *y;
    double *vx, *vy;
    double *charge;
    double friction;
};

static void push(struct particles *p, double *fx, double *fy, double step)
{
    for (int i = 0; i < p->count; i++)
        fx[i] = fy[i] = 0.0;
    for (int i = 0; i < p->count; i++)
        for (int j = 0; j < p->count; j++) {
            if (i == j)
                continue;
            double dx = p->x[i] - p->x[j], dy = p->y[i] - p->y[j];
            double force = p->charge[i] * p->charge[j] / (dx * dx + dy * dy + 0.1);
            fx[i] += force * dx;
            fy[i] += force * dy;
        }
    for (int i = 0; i < p->count; i++) {
        p->vx[i] += step * (fx[i] - p->friction * p->vx[i]);
        p->vy[i] += step * (fy[i] - p->friction * p->vy[i]);
        p->x[i] += step * p->vx[i];
        p->y[i] += step * p->vy[i];
    }
}

static void bounce(double *position, double *velocity, int count)
{
    for (int i = 0; i < count; i++) {
        if (position[i] > 1.0) {
            position[i] = 2.0 - position[i];
            velocity[i] = -velocity[i];
        } else if (position[i] < -1.0) {
            position[i] = -2.0 - position[i];
            velocity[i] = -velocity[i];
        }
    }
}

static double simulate(struct particles *p, int steps, double step)
{
    double *forces = malloc(sizeof(double) * 2 * (size_t)p->count);
    double loss = 0.0;
    for (int t = 0; t < steps; t++) {
        push(p, forces, forces + p->count, step);
        bounce(p->x, p->vx, p->count);
        bounce(p->y, p->vy, p->count);
    }
    for (int i = 0; i < p->count; i++)
        loss += p->charge[i] * (p->x[i] * p->x[i] + p->y[i] * p->y[i]);
    free(forces);
    return loss;
}

enum { COUNT = CORPUS_SIZE(16, 3), STEPS = CORPUS_SIZE(40, 4), SIZE = 5 * COUNT + 1 };

static const double step = 0.03;
static double point[SIZE], work[SIZE], shadow[SIZE];

static void setup(void)
{
    corpus_seed(21);
    corpus_fill(point, 2 * COUNT, -0.9, 0.9);
    corpus_fill(point + 2 * COUNT, 2 * COUNT, -1.5, 1.5);
    corpus_fill(point + 4 * COUNT, COUNT, 0.2, 0.6);
    point[5 * COUNT] = 0.3;
}

static struct particles view(double *values)
{
    struct particles p = {
        .count = COUNT,
        .x = values,
        .y = values + COUNT,
        .vx = values + 2 * COUNT,
        .vy = values + 3 * COUNT,
        .charge = values + 4 * COUNT,
        .friction = values[5 * COUNT],
    };
    return p;
}

static double value(const double *x)
{
    corpus_copy(work, x, SIZE);
    struct particles particles = view(work);
    return simulate(&particles, STEPS, step);
}

static double tangent(const double *x, const double *v)
{
    corpus_copy(work, x, SIZE);
    corpus_copy(shadow, v, SIZE);
    struct particles particles = view(work), tangents = view(shadow);
    return __enzyme_fwddiff((void *)simulate, enzyme_dup, &particles, &tangents, enzyme_const, STEPS, enzyme_const,
                            step);
}

static void gradient(const double *x, double *g)
{
    corpus_copy(work, x, SIZE);
    corpus_zero(g, SIZE);
    struct particles particles = view(work), adjoints = view(g);
    __enzyme_autodiff((void *)simulate, enzyme_dup, &particles, &adjoints, enzyme_const, STEPS, enzyme_const, step);
    g[5 * COUNT] = adjoints.friction;
}

static void gradient_plain(const double *x, double *g)
{
    corpus_copy(work, x, SIZE);
    corpus_zero(g, SIZE);
    struct particles particles = view(work), adjoints = view(g);
    __enzyme_autodiff((void *)simulate, &particles, &adjoints, STEPS, enzyme_const, step);
    g[5 * COUNT] = adjoints.friction;
}

static const struct corpus_problem problem = {
    .name = "particles_soa",
    .size = SIZE,
    .point = point,
    .setup = setup,
    .value = value,
    .tangent = tangent,
    .gradient = gradient,
    .variants = {{.name = "gradient without annotations", .gradient = gradient_plain}},
    .step = 0x1p-16,      // small enough that no particle bounces a step earlier or later
    .fd_tolerance = 1e-6, // the small step costs digits: eps / step
};

CORPUS_MAIN(&problem)
