// Lennard-Jones particles in a periodic box, velocity Verlet, forces by a neighbour list with a skin: the list is
// rebuilt by realloc when a particle has moved far enough. Loss = mean square displacement + virial at the end.
// Source: Allen, Tildesley, "Computer Simulation of Liquids", sections 3.2 and 5.3.
#include "corpus.h"

struct list {
    int *pairs;
    int count, room, builds;
};

struct atoms {
    int count;
    double box;
    double (*position)[3], (*velocity)[3], (*force)[3], (*anchor)[3];
};

static double wrapped(double d, double box)
{
    return d - box * nearbyint(d / box);
}

static double squared_distance(const struct atoms *a, const double *p, const double *q, double d[3])
{
    double sum = 0.0;
    for (int k = 0; k < 3; k++) {
        d[k] = wrapped(p[k] - q[k], a->box);
        sum += d[k] * d[k];
    }
    return sum;
}

static void build(const struct atoms *a, struct list *list, double reach)
{
    double d[3];
    list->count = 0;
    for (int i = 0; i < a->count; i++)
        for (int j = i + 1; j < a->count; j++) {
            if (squared_distance(a, a->position[i], a->position[j], d) > reach * reach)
                continue;
            if (list->count == list->room) {
                list->room += 64;
                list->pairs = realloc(list->pairs, sizeof(int) * 2 * (size_t)list->room);
            }
            list->pairs[2 * list->count] = i;
            list->pairs[2 * list->count + 1] = j;
            list->count++;
        }
    memcpy(a->anchor, a->position, sizeof(double) * 3 * (size_t)a->count);
    list->builds++;
}

static double forces(const struct atoms *a, struct list *list, double sigma, double cutoff)
{
    double d[3], virial = 0.0, farthest = 0.0;
    for (int i = 0; i < a->count; i++) {
        double moved = squared_distance(a, a->position[i], a->anchor[i], d);
        if (moved > farthest)
            farthest = moved;
    }
    if (list->builds == 0 || farthest > 0.01)
        build(a, list, cutoff + 0.3);
    memset(a->force, 0, sizeof(double) * 3 * (size_t)a->count);
    for (int p = 0; p < list->count; p++) {
        int i = list->pairs[2 * p], j = list->pairs[2 * p + 1];
        double r2 = squared_distance(a, a->position[i], a->position[j], d);
        if (r2 > cutoff * cutoff)
            continue;
        double s2 = sigma * sigma / r2, s6 = s2 * s2 * s2, strength = 24.0 * (2.0 * s6 * s6 - s6) / r2;
        virial += strength * r2;
        for (int k = 0; k < 3; k++) {
            a->force[i][k] += strength * d[k];
            a->force[j][k] -= strength * d[k];
        }
    }
    return virial;
}

static double dynamics_loss(const double *positions, const double *velocities, double sigma, int count, int steps)
{
    double *memory = calloc((size_t)(12 * count), sizeof(double)), dt = 0.005, virial, displacement = 0.0;
    struct atoms a = {count, 4.0, NULL, NULL, NULL, NULL};
    struct list list = {NULL, 0, 0, 0};
    a.position = (double (*)[3])memory;
    a.velocity = a.position + count;
    a.force = a.position + 2 * count;
    a.anchor = a.position + 3 * count;
    memcpy(a.position, positions, sizeof(double) * 3 * (size_t)count);
    memcpy(a.velocity, velocities, sizeof(double) * 3 * (size_t)count);
    virial = forces(&a, &list, sigma, 1.6);
    for (int t = 0; t < steps; t++) {
        for (int i = 0; i < count; i++)
            for (int k = 0; k < 3; k++) {
                a.velocity[i][k] += 0.5 * dt * a.force[i][k];
                a.position[i][k] += dt * a.velocity[i][k];
            }
        virial = forces(&a, &list, sigma, 1.6);
        for (int i = 0; i < count; i++)
            for (int k = 0; k < 3; k++)
                a.velocity[i][k] += 0.5 * dt * a.force[i][k];
    }
    for (int i = 0; i < 3 * count; i++)
        displacement += (memory[i] - positions[i]) * (memory[i] - positions[i]);
    free(list.pairs);
    free(memory);
    return displacement + 0.01 * virial;
}

enum { COUNT = CORPUS_SIZE(27, 8), STEPS = CORPUS_SIZE(20, 2), SIZE = 6 * COUNT + 1 };

static double point[SIZE];

static void setup(void)
{
    corpus_seed(180);
    for (int i = 0; i < COUNT; i++) {
        point[3 * i] = 1.3 * (i % 3) + corpus_uniform(-0.05, 0.05);
        point[3 * i + 1] = 1.3 * (i / 3 % 3) + corpus_uniform(-0.05, 0.05);
        point[3 * i + 2] = 1.3 * (i / 9) + corpus_uniform(-0.05, 0.05);
    }
    corpus_fill(point + 3 * COUNT, 3 * COUNT, -1.0, 1.0);
    point[SIZE - 1] = 1.0;
}

static double loss(const double *x)
{
    return dynamics_loss(x, x + 3 * COUNT, x[6 * COUNT], COUNT, STEPS);
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
    .name = "lennard_jones",
    .size = SIZE,
    .point = point,
    .setup = setup,
    .value = value,
    .tangent = tangent,
    .gradient = gradient,
    .step = 0x1p-22, // no pair crosses the cutoff, the list is rebuilt at the same steps
    .fd_tolerance = 1e-5, // rounding over a small step
};

CORPUS_MAIN(&problem)
