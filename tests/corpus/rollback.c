// A simulation with checkpoints and rollback: whole states are copied by assignment onto a stack, a step that turns
// out bad is undone by copying back, the step length is halved, and the stack is unwound when progress is good again.
#include "corpus.h"
#include <stdbool.h>

enum { BODIES = 4, DEPTH = 8, SIZE = 5 * BODIES };

struct body {
    double position[2], velocity[2];
    float radius;
    bool awake;
};

struct state {
    int step, retries;
    double time, length;
    struct body bodies[BODIES];
};

static double energy(const struct state *s, const double *charge)
{
    double sum = 0.0;
    for (int i = 0; i < BODIES; i++) {
        const double *v = s->bodies[i].velocity, *p = s->bodies[i].position;
        sum += 0.5 * (v[0] * v[0] + v[1] * v[1]) + 0.5 * (p[0] * p[0] + p[1] * p[1]);
        for (int j = 0; j < i; j++) {
            double dx = p[0] - s->bodies[j].position[0], dy = p[1] - s->bodies[j].position[1];
            sum += charge[i] * charge[j] / sqrt(dx * dx + dy * dy + s->bodies[i].radius);
        }
    }
    return sum;
}

static void advance(struct state *s, const double *charge)
{
    for (int i = 0; i < BODIES; i++) {
        struct body *b = &s->bodies[i];
        if (!b->awake)
            continue;
        double force[2] = {-b->position[0], -b->position[1]};
        for (int j = 0; j < BODIES; j++) {
            if (j == i)
                continue;
            double dx = b->position[0] - s->bodies[j].position[0], dy = b->position[1] - s->bodies[j].position[1];
            double r2 = dx * dx + dy * dy + s->bodies[i > j ? i : j].radius;
            double f = charge[i] * charge[j] / (r2 * sqrt(r2));
            force[0] += f * dx;
            force[1] += f * dy;
        }
        for (int k = 0; k < 2; k++)
            b->velocity[k] += s->length * force[k];
    }
    for (int i = 0; i < BODIES; i++)
        for (int k = 0; k < 2; k++)
            s->bodies[i].position[k] += s->length * s->bodies[i].velocity[k];
    s->time += s->length;
    s->step++;
}

static double simulation_loss(const double *x, double end)
{
    struct state now, saved[DEPTH];
    const double *charge = x + 4 * BODIES;
    int depth = 0;
    memset(&now, 0, sizeof(now));
    now.length = 0.2;
    for (int i = 0; i < BODIES; i++) {
        memcpy(now.bodies[i].position, x + 4 * i, sizeof(now.bodies[i].position));
        memcpy(now.bodies[i].velocity, x + 4 * i + 2, sizeof(now.bodies[i].velocity));
        now.bodies[i].radius = 0.0625f;
        now.bodies[i].awake = true;
    }
    double reference = energy(&now, charge), loss = 0.0;
    while (now.time < end) {
        if (depth == DEPTH) {
            memmove(saved, saved + 1, sizeof(saved[0]) * (DEPTH - 1));
            depth--;
        }
        saved[depth++] = now;
        advance(&now, charge);
        double drift = energy(&now, charge) - reference;
        if (fabs(drift) > 0.02 && saved[depth - 1].length > 0.02) {
            int retries = now.retries + 1;
            double length = 0.5 * saved[depth - 1].length;
            now = saved[--depth];
            now.retries = retries;
            now.length = length;
            continue;
        }
        loss += drift * drift * now.length;
        if (now.step % 5 == 4)
            now.length *= 1.2;
    }
    for (int i = 0; i < BODIES; i++)
        loss += now.bodies[i].position[0] * saved[depth / 2].bodies[i].position[1];
    return loss + 1e-3 * now.retries;
}

static double point[SIZE];

static void setup(void)
{
    corpus_seed(214);
    for (int i = 0; i < BODIES; i++) {
        point[4 * i] = cos(1.5 * i) + corpus_uniform(-0.1, 0.1);
        point[4 * i + 1] = sin(1.5 * i) + corpus_uniform(-0.1, 0.1);
    }
    corpus_fill(point + 4 * BODIES, BODIES, 0.5, 1.0);
}

static double value(const double *x)
{
    return simulation_loss(x, CORPUS_SIZE(5.0, 0.6));
}

static double tangent(const double *x, const double *v)
{
    return __enzyme_fwddiff((void *)simulation_loss, enzyme_dup, x, v, enzyme_const, CORPUS_SIZE(5.0, 0.6));
}

static void gradient(const double *x, double *g)
{
    corpus_zero(g, SIZE);
    __enzyme_autodiff((void *)simulation_loss, enzyme_dup, x, g, enzyme_const, CORPUS_SIZE(5.0, 0.6));
}

static const struct corpus_problem problem = {
    .name = "rollback",
    .size = SIZE,
    .point = point,
    .setup = setup,
    .value = value,
    .tangent = tangent,
    .gradient = gradient,
    .step = 0x1p-22, // the same steps are undone
    .fd_tolerance = 1e-5, // rounding over a small step
};

CORPUS_MAIN(&problem)
