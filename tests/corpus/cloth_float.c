// A cloth of float particles with springs, Verlet integration with constraint relaxation; springs are structs with
// pointers to their particles, pinned particles have inverse mass zero. Loss = height and swing of the free corners.
// Source: Jakobsen, "Advanced character physics", GDC 2001.
#include "corpus.h"

typedef struct particle {
    float position[3], previous[3];
    float inverse_mass;
} particle;

typedef struct {
    particle *a, *b;
    float rest;
} spring;

enum { SIDE = CORPUS_SIZE(7, 3), COUNT = SIDE * SIDE, STEPS = CORPUS_SIZE(25, 3), SIZE = 3 * COUNT };

static int connect(particle *cloth, spring *springs)
{
    int used = 0;
    for (int y = 0; y < SIDE; y++)
        for (int x = 0; x < SIDE; x++) {
            particle *p = cloth + y * SIDE + x;
            if (x + 1 < SIDE)
                springs[used++] = (spring){p, p + 1, 1.0f};
            if (y + 1 < SIDE)
                springs[used++] = (spring){p, p + SIDE, 1.0f};
        }
    return used;
}

static void verlet(particle *p, float dt)
{
    if (p->inverse_mass == 0.0f)
        return;
    for (int k = 0; k < 3; k++) {
        float now = p->position[k];
        p->position[k] += 0.98f * (now - p->previous[k]) + (k == 1 ? -9.81f * dt * dt : 0.0f);
        p->previous[k] = now;
    }
}

static void relax(const spring *s)
{
    float d[3], length2 = 0.0f, total = s->a->inverse_mass + s->b->inverse_mass;
    if (total == 0.0f)
        return;
    for (int k = 0; k < 3; k++) {
        d[k] = s->b->position[k] - s->a->position[k];
        length2 += d[k] * d[k];
    }
    float correction = (1.0f - s->rest / sqrtf(length2)) / total;
    for (int k = 0; k < 3; k++) {
        s->a->position[k] += correction * s->a->inverse_mass * d[k];
        s->b->position[k] -= correction * s->b->inverse_mass * d[k];
    }
}

static double cloth_loss(const float *start)
{
    particle cloth[COUNT];
    spring *springs = malloc(sizeof(spring) * 2 * COUNT);
    for (int i = 0; i < COUNT; i++) {
        memcpy(cloth[i].position, start + 3 * i, sizeof(cloth[i].position));
        memcpy(cloth[i].previous, start + 3 * i, sizeof(cloth[i].previous));
        cloth[i].inverse_mass = i == 0 || i == SIDE - 1 ? 0.0f : 1.0f;
    }
    int count = connect(cloth, springs);
    for (int t = 0; t < STEPS; t++) {
        for (int i = 0; i < COUNT; i++)
            verlet(&cloth[i], 0.05f);
        for (int pass = 0; pass < 2; pass++)
            for (int s = 0; s < count; s++)
                relax(&springs[s]);
    }
    free(springs);
    double loss = 0.0;
    for (int k = 0; k < 3; k++)
        loss += cloth[COUNT - 1].position[k] * cloth[COUNT - SIDE].position[k] + 0.1 * cloth[COUNT / 2].position[k];
    return loss;
}

static double point[SIZE];
static float start[SIZE], shadow[SIZE];

static void setup(void)
{
    corpus_seed(194);
    for (int i = 0; i < COUNT; i++) {
        point[3 * i] = i % SIDE + corpus_uniform(-0.1, 0.1);
        point[3 * i + 1] = corpus_uniform(-0.1, 0.1);
        point[3 * i + 2] = i / SIDE + corpus_uniform(-0.1, 0.1);
    }
}

static double value(const double *x)
{
    for (int i = 0; i < SIZE; i++)
        start[i] = (float)x[i];
    return cloth_loss(start);
}

static double tangent(const double *x, const double *v)
{
    for (int i = 0; i < SIZE; i++) {
        start[i] = (float)x[i];
        shadow[i] = (float)v[i];
    }
    return __enzyme_fwddiff((void *)cloth_loss, enzyme_dup, start, shadow);
}

static void gradient(const double *x, double *g)
{
    for (int i = 0; i < SIZE; i++)
        start[i] = (float)x[i];
    memset(shadow, 0, sizeof(shadow));
    __enzyme_autodiff((void *)cloth_loss, enzyme_dup, start, shadow);
    for (int i = 0; i < SIZE; i++)
        g[i] = shadow[i];
}

static const struct corpus_problem problem = {
    .name = "cloth_float",
    .size = SIZE,
    .point = point,
    .setup = setup,
    .value = value,
    .tangent = tangent,
    .gradient = gradient,
    .step = 1.0 / 32.0,
    .fd_tolerance = 1e-2,  // floats: 24 bits through some thousand operations
    .dot_tolerance = 1e-4, // likewise
};

CORPUS_MAIN(&problem)
