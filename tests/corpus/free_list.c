// corpus: valgrind
// A pool whose free slots are chained through the slots themselves: a union of payload (doubles) and the index of the
// next free slot. Photons are emitted, scattered, absorbed and re-emitted in slots that have been used before.
#include "corpus.h"

union slot {
    struct {
        double position, direction, weight;
    } photon;
    int next_free;
};

struct pool {
    union slot slots[32];
    unsigned char alive[32];
    int first_free;
};

static void pool_init(struct pool *pool)
{
    for (int i = 0; i < 32; i++) {
        pool->slots[i].next_free = i + 1 < 32 ? i + 1 : -1;
        pool->alive[i] = 0;
    }
    pool->first_free = 0;
}

static int emit(struct pool *pool, double position, double direction, double weight)
{
    int at = pool->first_free;
    if (at < 0)
        return -1;
    pool->first_free = pool->slots[at].next_free;
    pool->slots[at].photon.position = position;
    pool->slots[at].photon.direction = direction;
    pool->slots[at].photon.weight = weight;
    pool->alive[at] = 1;
    return at;
}

static void absorb(struct pool *pool, int at)
{
    pool->alive[at] = 0;
    pool->slots[at].next_free = pool->first_free;
    pool->first_free = at;
}

static double transport_loss(const double *opacity, int cells, const double *source, int steps)
{
    struct pool *pool = malloc(sizeof(*pool));
    double heated = 0.0, escaped = 0.0;
    pool_init(pool);
    for (int t = 0; t < steps; t++) {
        emit(pool, 0.5 + 0.13 * t, t % 2 ? -1.0 : 1.0, source[t % cells]);
        for (int i = 0; i < 32; i++) {
            if (!pool->alive[i])
                continue;
            double p = pool->slots[i].photon.position, d = pool->slots[i].photon.direction;
            double w = pool->slots[i].photon.weight;
            int cell = (int)p;
            if (p < 0.0 || cell >= cells) {
                escaped += w * w;
                absorb(pool, i);
                continue;
            }
            double kept = w * exp(-opacity[cell]);
            heated += (w - kept) * (1.0 + 0.1 * cell);
            pool->slots[i].photon.weight = kept;
            pool->slots[i].photon.position = p + 0.7 * d;
            if ((t + i) % 5 == 4) {
                absorb(pool, i);
                emit(pool, p, -d, 0.6 * kept);
                emit(pool, p, d, 0.3 * kept);
            }
        }
    }
    free(pool);
    return heated + escaped;
}

enum { CELLS = CORPUS_SIZE(12, 4), STEPS = CORPUS_SIZE(60, 8), SIZE = 2 * CELLS };

static double point[SIZE];

static void setup(void)
{
    corpus_seed(199);
    corpus_fill(point, CELLS, 0.05, 0.4);
    corpus_fill(point + CELLS, CELLS, 0.5, 1.5);
}

static double value(const double *x)
{
    return transport_loss(x, CELLS, x + CELLS, STEPS);
}

static double tangent(const double *x, const double *v)
{
    return __enzyme_fwddiff((void *)transport_loss, enzyme_dup, x, v, enzyme_const, CELLS, enzyme_dup, x + CELLS,
                            v + CELLS, enzyme_const, STEPS);
}

static void gradient(const double *x, double *g)
{
    corpus_zero(g, SIZE);
    __enzyme_autodiff((void *)transport_loss, enzyme_dup, x, g, enzyme_const, CELLS, enzyme_dup, x + CELLS, g + CELLS,
                      enzyme_const, STEPS);
}

static const struct corpus_problem problem = {
    .name = "free_list",
    .size = SIZE,
    .point = point,
    .setup = setup,
    .value = value,
    .tangent = tangent,
    .gradient = gradient,
};

CORPUS_MAIN(&problem)
