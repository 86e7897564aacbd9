// One-dimensional shallow water over a bed, finite volumes with Rusanov fluxes and reflecting walls; an array of
// structs of conserved variables, fluxes returned by value. Loss = kinetic energy + surface variance. Active: depths,
// momenta, bed.
// Source: LeVeque, "Finite Volume Methods for Hyperbolic Problems", sections 13.1 and 12.5.
#include "corpus.h"

static const double gravity = 9.81;

struct cell {
    double depth, momentum;
};

struct flux {
    double mass, momentum;
};

static struct flux rusanov(struct cell l, struct cell r)
{
    double ul = l.momentum / l.depth, ur = r.momentum / r.depth;
    double sl = fabs(ul) + sqrt(gravity * l.depth), sr = fabs(ur) + sqrt(gravity * r.depth);
    double s = sl > sr ? sl : sr;
    struct flux f;
    f.mass = 0.5 * (l.momentum + r.momentum) - 0.5 * s * (r.depth - l.depth);
    f.momentum = 0.5 * (l.momentum * ul + 0.5 * gravity * l.depth * l.depth + r.momentum * ur +
                        0.5 * gravity * r.depth * r.depth) -
                 0.5 * s * (r.momentum - l.momentum);
    return f;
}

static void advance(struct cell *cells, const double *bed, struct flux *fluxes, int n, double ratio)
{
    struct cell wall = cells[0];
    wall.momentum = -wall.momentum;
    fluxes[0] = rusanov(wall, cells[0]);
    for (int i = 1; i < n; i++)
        fluxes[i] = rusanov(cells[i - 1], cells[i]);
    wall = cells[n - 1];
    wall.momentum = -wall.momentum;
    fluxes[n] = rusanov(cells[n - 1], wall);
    for (int i = 0; i < n; i++) {
        double left = i > 0 ? bed[i - 1] : bed[i], right = i + 1 < n ? bed[i + 1] : bed[i];
        double source = -0.5 * gravity * cells[i].depth * (right - left);
        cells[i].depth -= ratio * (fluxes[i + 1].mass - fluxes[i].mass);
        cells[i].momentum += ratio * (source - fluxes[i + 1].momentum + fluxes[i].momentum);
    }
}

static double flood_loss(struct cell *cells, const double *bed, int n, int steps, double ratio)
{
    struct flux *fluxes = malloc(sizeof(struct flux) * (size_t)(n + 1));
    for (int t = 0; t < steps; t++)
        advance(cells, bed, fluxes, n, ratio);
    free(fluxes);
    double kinetic = 0.0, mean = 0.0, square = 0.0;
    for (int i = 0; i < n; i++) {
        double surface = cells[i].depth + bed[i];
        kinetic += 0.5 * cells[i].momentum * cells[i].momentum / cells[i].depth;
        mean += surface / n;
        square += surface * surface / n;
    }
    return kinetic / n + square - mean * mean;
}

enum { N = CORPUS_SIZE(60, 6), STEPS = CORPUS_SIZE(60, 3), SIZE = 3 * N };

static double point[SIZE];
static struct cell params[N], shadow[N];

static void setup(void)
{
    corpus_seed(148);
    for (int i = 0; i < N; i++) {
        point[2 * i] = (i < N / 2 ? 2.0 : 1.0) + corpus_uniform(-0.02, 0.02);
        point[2 * i + 1] = corpus_uniform(-0.3, 0.3);
        point[2 * N + i] = 0.1 * sin(0.3 * i);
    }
}

static void pack(struct cell *to, const double *x)
{
    for (int i = 0; i < N; i++) {
        to[i].depth = x[2 * i];
        to[i].momentum = x[2 * i + 1];
    }
}

static void unpack(const struct cell *from, double *g)
{
    for (int i = 0; i < N; i++) {
        g[2 * i] = from[i].depth;
        g[2 * i + 1] = from[i].momentum;
    }
}

static double value(const double *x)
{
    pack(params, x);
    return flood_loss(params, x + 2 * N, N, STEPS, 0.05);
}

static double tangent(const double *x, const double *v)
{
    pack(params, x);
    pack(shadow, v);
    return __enzyme_fwddiff((void *)flood_loss, enzyme_dup, params, shadow, enzyme_dup, x + 2 * N, v + 2 * N,
                            enzyme_const, N, enzyme_const, STEPS, enzyme_const, 0.05);
}

static void gradient(const double *x, double *g)
{
    pack(params, x);
    memset(shadow, 0, sizeof(shadow));
    corpus_zero(g, SIZE);
    __enzyme_autodiff((void *)flood_loss, enzyme_dup, params, shadow, enzyme_dup, x + 2 * N, g + 2 * N, enzyme_const, N,
                      enzyme_const, STEPS, enzyme_const, 0.05);
    unpack(shadow, g);
}

static const struct corpus_problem problem = {
    .name = "shallow_water",
    .size = SIZE,
    .point = point,
    .setup = setup,
    .value = value,
    .tangent = tangent,
    .gradient = gradient,
    .step = 0x1p-16, // no velocity changes its sign
    .fd_tolerance = 1e-6, // rounding over a small step
};

CORPUS_MAIN(&problem)
