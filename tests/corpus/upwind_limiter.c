// Advection of two tracers in a variable wind with a superbee limiter: ghost cells at negative indices through a
// shifted pointer, flux functions by macro, a fixed-size history of snapshots. Loss = misfit of snapshots at sensors.
// Source: LeVeque, "Finite Volume Methods for Hyperbolic Problems", section 6.11.
#include "corpus.h"

#define MAX(a, b) ((a) > (b) ? (a) : (b))
#define MIN(a, b) ((a) < (b) ? (a) : (b))
#define MAX3(a, b, c) MAX(a, MAX(b, c))

enum { CELLS = CORPUS_SIZE(60, 8), GHOSTS = 2, TRACERS = 2, STEPS = CORPUS_SIZE(50, 4), SNAPSHOTS = CORPUS_SIZE(5, 2) };
enum { SIZE = (TRACERS + 1) * CELLS };

struct field {
    double storage[CELLS + 2 * GHOSTS];
};

static double superbee(double r)
{
    return MAX3(0.0, MIN(2.0 * r, 1.0), MIN(r, 2.0));
}

static void fill_ghosts(double *c)
{
    for (int g = 1; g <= GHOSTS; g++) {
        c[-g] = c[CELLS - g];
        c[CELLS - 1 + g] = c[g - 1];
    }
}

static void advect(struct field *field, const double *wind, double ratio)
{
    double flux[CELLS + 1], *c = field->storage + GHOSTS;
    fill_ghosts(c);
    for (int i = 0; i <= CELLS; i++) {
        double w = wind[i % CELLS], jump = c[i] - c[i - 1];
        double upwind = w > 0.0 ? c[i - 1] - c[i - 2] : c[i + 1] - c[i];
        double limited = fabs(jump) > 1e-12 ? superbee(upwind / jump) * jump : 0.0;
        flux[i] = w * (w > 0.0 ? c[i - 1] : c[i]) + 0.5 * fabs(w) * (1.0 - ratio * fabs(w)) * limited;
    }
    for (int i = 0; i < CELLS; i++)
        c[i] -= ratio * (flux[i + 1] - flux[i]);
}

static double sensor_loss(const double *initial, const double *wind, const double *data)
{
    struct field tracers[TRACERS], snapshots[SNAPSHOTS];
    double loss = 0.0;
    int taken = 0;
    for (int t = 0; t < TRACERS; t++)
        memcpy(tracers[t].storage + GHOSTS, initial + t * CELLS, CELLS * sizeof(double));
    for (int step = 0; step < STEPS; step++) {
        for (int t = 0; t < TRACERS; t++)
            advect(&tracers[t], wind, 0.4);
        if (step % (STEPS / SNAPSHOTS) == 0 && taken < SNAPSHOTS)
            snapshots[taken++] = tracers[step % TRACERS];
    }
    for (int s = 0; s < taken; s++)
        for (int i = 0; i < CELLS; i += 3) {
            double error = snapshots[s].storage[GHOSTS + i] - data[i];
            loss += error * error;
        }
    return loss;
}

static double point[SIZE], data[CELLS];

static void setup(void)
{
    corpus_seed(211);
    corpus_fill(point, SIZE, 0.0, 1.0);
    for (int i = 0; i < CELLS; i++)
        point[TRACERS * CELLS + i] = 0.9 * cos(6.28 * i / CELLS) + corpus_uniform(-0.05, 0.05);
    corpus_fill(data, CELLS, 0.0, 1.0);
}

static double value(const double *x)
{
    return sensor_loss(x, x + TRACERS * CELLS, data);
}

static double tangent(const double *x, const double *v)
{
    return __enzyme_fwddiff((void *)sensor_loss, enzyme_dup, x, v, enzyme_dup, x + TRACERS * CELLS, v + TRACERS * CELLS,
                            enzyme_const, data);
}

static void gradient(const double *x, double *g)
{
    corpus_zero(g, SIZE);
    __enzyme_autodiff((void *)sensor_loss, enzyme_dup, x, g, enzyme_dup, x + TRACERS * CELLS, g + TRACERS * CELLS,
                      enzyme_const, data);
}

static const struct corpus_problem problem = {
    .name = "upwind_limiter",
    .size = SIZE,
    .point = point,
    .setup = setup,
    .value = value,
    .tangent = tangent,
    .gradient = gradient,
    .step = 0x1p-24, // no limiter switches
    .fd_tolerance = 1e-4, // rounding over a small step
};

CORPUS_MAIN(&problem)
