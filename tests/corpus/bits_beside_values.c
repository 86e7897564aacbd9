// The bits of numbers decide, the numbers move: a radix sort of charges by the bytes of their positions, a hash of a state
// beside a copy of it, nearest images in a periodic box by adding and taking off a large constant, and 64-bit words that
// are numbers or counters as a tag says.
#include "corpus.h"

enum { CHARGES = CORPUS_SIZE(10, 5), N = 2 * CHARGES };

struct word {
    uint64_t bits;
    int is_number;
};

static uint64_t bits_of(double x)
{
    uint64_t u;
    memcpy(&u, &x, sizeof u);
    return u;
}

// Positions are positive: their bits are in their order.
static void radix_sort(double *position, double *charge)
{
    double p[CHARGES], c[CHARGES];
    for (int shift = 0; shift < 64; shift += 8) {
        int start[257] = {0};
        for (int i = 0; i < CHARGES; i++)
            start[(bits_of(position[i]) >> shift & 255) + 1]++;
        for (int k = 0; k < 256; k++)
            start[k + 1] += start[k];
        for (int i = 0; i < CHARGES; i++) {
            int to = start[bits_of(position[i]) >> shift & 255]++;
            p[to] = position[i];
            c[to] = charge[i];
        }
        memcpy(position, p, sizeof p);
        memcpy(charge, c, sizeof c);
    }
}

static double nearest(double d, double box)
{
    const double large = 0x1.8p52;
    return d - box * ((d / box + large) - large);
}

// What may be computed in another order rounds all the same where the program is not optimised; elsewhere it may be a product.
static double rounded_times(double x)
{
#pragma clang fp reassociate(on)
    const double large = 0x1.8p52;
    return x * ((x * 3.0 + large) - large);
}

static uint64_t hash_and_keep(struct word *kept, const double *x)
{
    uint64_t hash = 1469598103934665603u;
    for (int i = 0; i < CHARGES; i++) {
        uint64_t u;
        memcpy(&u, &x[i], sizeof u);
        hash = (hash ^ u) * 1099511628211u;
        kept[2 * i] = (struct word){u, 1};
        kept[2 * i + 1] = (struct word){(uint64_t)i % 7, 0};
    }
    return hash;
}

static double energy(double *x)
{
    struct word kept[2 * CHARGES];
    double *position = x, *charge = x + CHARGES, sum = 0.0;
    uint64_t hash = hash_and_keep(kept, charge);
    radix_sort(position, charge);
    for (int i = 0; i < CHARGES; i++)
        for (int j = 0; j < i; j++) {
            double d = nearest(position[i] - position[j], 2.5);
            sum += charge[i] * charge[j] / (0.1 + d * d) * (i - j);
        }
    for (int i = 0; i < 2 * CHARGES; i++) {
        double v;
        memcpy(&v, &kept[i].bits, sizeof v);
        sum += kept[i].is_number ? v * v * (i + 1) : 0.0 * (double)kept[i].bits;
    }
    return sum + rounded_times(x[0]) + 0.0 * (double)(hash % 3);
}

static double point[N], work[N], shadow[N];

static void setup(void)
{
    for (int i = 0; i < N; i++)
        point[i] = 0.3 + 0.37 * ((3 * i + 2) % CHARGES) + 0.017 * i;
}

static double value(const double *x)
{
    corpus_copy(work, x, N);
    return energy(work);
}

static double tangent(const double *x, const double *v)
{
    corpus_copy(work, x, N);
    corpus_copy(shadow, v, N);
    return __enzyme_fwddiff((void *)energy, enzyme_dup, work, shadow);
}

static void gradient(const double *x, double *g)
{
    corpus_copy(work, x, N);
    corpus_zero(g, N);
    __enzyme_autodiff((void *)energy, enzyme_dup, work, g);
}

static const struct corpus_problem problem = {
    .name = "bits_beside_values",
    .size = N,
    .point = point,
    .setup = setup,
    .value = value,
    .tangent = tangent,
    .gradient = gradient,
    .coordinates = CORPUS_ALL,
};

CORPUS_MAIN(&problem)
