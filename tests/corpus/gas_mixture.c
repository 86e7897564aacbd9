// A packet of gas described by a structure that mixes everything: an enum, a bool, bit-fields, a float, chars, a
// pointer to constants and nested structures. Chambers are mixed pairwise, valves (bits) say which; copies are by
// assignment. Ideal gas: internal energy U = sum n_s c_s T, pressure p = n R T / V. Loss = variance of the pressures
// + mean temperature.
#include "corpus.h"
#include <stdbool.h>

enum gas { HELIUM, NITROGEN, METHANE, GASES };

struct species {
    char symbol[4];
    float heat_capacity;
};

struct composition {
    unsigned char present;
    double moles[GASES];
};

struct chamber {
    bool open;
    unsigned valve : 3;
    unsigned locked : 1;
    int serial : 12;
    float insulation;
    struct composition content;
    const struct species *table;
    char label;
    double temperature, volume;
};

static const struct species table[GASES] = {{"He", 12.5f}, {"N2", 20.75f}, {"CH4", 27.5f}};

static double heat_capacity(const struct chamber *c)
{
    double sum = 0.0;
    for (int s = 0; s < GASES; s++)
        if (c->content.present & (1u << s))
            sum += c->content.moles[s] * c->table[s].heat_capacity;
    return sum;
}

static double pressure(const struct chamber *c)
{
    double moles = 0.0;
    for (int s = 0; s < GASES; s++)
        moles += c->content.moles[s];
    return moles * 8.314 * c->temperature / c->volume;
}

static void mix(struct chamber *a, struct chamber *b)
{
    struct chamber before = *a;
    double ca = heat_capacity(a), cb = heat_capacity(b);
    double common = (ca * a->temperature + cb * b->temperature) / (ca + cb);
    double share = a->volume / (a->volume + b->volume);
    for (int s = 0; s < GASES; s++) {
        double total = a->content.moles[s] + b->content.moles[s];
        a->content.moles[s] = share * total;
        b->content.moles[s] = (1.0 - share) * total;
    }
    a->content.present |= b->content.present;
    b->content.present = a->content.present;
    a->temperature = common + before.insulation * (before.temperature - common);
    b->temperature = common;
    b->serial = before.serial + 1;
}

static double mixture_loss(struct chamber *chambers, int count, int rounds)
{
    for (int round = 0; round < rounds; round++)
        for (int i = 0; i + 1 < count; i++) {
            struct chamber *here = &chambers[i];
            if (here->locked || !here->open || !((here->valve >> (round % 3)) & 1))
                continue;
            mix(here, here + 1);
        }
    double mean = 0.0, square = 0.0, heat = 0.0;
    for (int i = 0; i < count; i++) {
        double p = pressure(&chambers[i]) / 1000.0;
        mean += p / count;
        square += p * p / count;
        heat += chambers[i].temperature / (300.0 * count);
    }
    return square - mean * mean + heat;
}

enum { COUNT = CORPUS_SIZE(12, 3), PER = GASES + 2, SIZE = PER * COUNT };

static double point[SIZE];
static struct chamber params[COUNT], shadow[COUNT];

static void setup(void)
{
    corpus_seed(111);
    for (int i = 0; i < COUNT; i++) {
        corpus_fill(point + PER * i, GASES, 0.2, 1.5);
        point[PER * i + GASES] = corpus_uniform(250.0, 350.0);
        point[PER * i + GASES + 1] = corpus_uniform(0.5, 2.0);
    }
}

static void pack(struct chamber *to, const double *x)
{
    for (int i = 0; i < COUNT; i++, x += PER) {
        struct chamber *c = &to[i];
        memset(c, 0, sizeof(*c));
        c->open = i % 5 != 3;
        c->valve = (unsigned)(i * 3 + 5) & 7u;
        c->locked = i % 7 == 4;
        c->serial = i;
        c->insulation = to == params ? 0.125f : 0.0f;
        c->content.present = 7;
        corpus_copy(c->content.moles, x, GASES);
        c->table = table;
        c->label = (char)('A' + i);
        c->temperature = x[GASES];
        c->volume = x[GASES + 1];
    }
}

// The shadow of a pointer points to a shadow, although nothing in the table is active.
static void link_tables(void)
{
    static struct species table_shadow[GASES];
    memset(table_shadow, 0, sizeof(table_shadow));
    for (int i = 0; i < COUNT; i++)
        shadow[i].table = table_shadow;
}

static void unpack(const struct chamber *from, double *g)
{
    for (int i = 0; i < COUNT; i++, g += PER) {
        corpus_copy(g, from[i].content.moles, GASES);
        g[GASES] = from[i].temperature;
        g[GASES + 1] = from[i].volume;
    }
}

static double value(const double *x)
{
    pack(params, x);
    return mixture_loss(params, COUNT, CORPUS_SIZE(6, 3));
}

static double tangent(const double *x, const double *v)
{
    pack(params, x);
    pack(shadow, v);
    link_tables();
    return __enzyme_fwddiff((void *)mixture_loss, enzyme_dup, params, shadow, enzyme_const, COUNT, enzyme_const,
                            CORPUS_SIZE(6, 3));
}

static void gradient(const double *x, double *g)
{
    pack(params, x);
    memset(shadow, 0, sizeof(shadow));
    link_tables();
    __enzyme_autodiff((void *)mixture_loss, enzyme_dup, params, shadow, enzyme_const, COUNT, enzyme_const,
                      CORPUS_SIZE(6, 3));
    unpack(shadow, g);
}

static const struct corpus_problem problem = {
    .name = "gas_mixture",
    .size = SIZE,
    .point = point,
    .setup = setup,
    .value = value,
    .tangent = tangent,
    .gradient = gradient,
};

CORPUS_MAIN(&problem)
