// Orbit determination: from six elements to positions at given times by Kepler's equation (Newton with a starting
// value by Danby, bisection as a fall-back), rotation by Euler angles, light time by two corrections; residuals of
// angles.
// Source: Vallado, "Fundamentals of Astrodynamics", algorithms 2 and 10.
#include "corpus.h"

struct elements {
    double axis, eccentricity, inclination, node, periapsis, anomaly;
};

struct sighting {
    double time;
    float right_ascension, declination;
    char station[4];
};

static int solve_kepler(double mean, double e, double *eccentric)
{
    double E = mean + 0.85 * e * (sin(mean) < 0.0 ? -1.0 : 1.0), low = mean - e, high = mean + e;
    for (int iteration = 0; iteration < 60; iteration++) {
        double f = E - e * sin(E) - mean, slope = 1.0 - e * cos(E);
        if (f > 0.0)
            high = E;
        else
            low = E;
        double next = E - f / slope;
        if (next < low || next > high)
            next = 0.5 * (low + high);
        int converged = fabs(next - E) < 1e-12;
        E = next;
        if (converged) {
            *eccentric = E - (E - e * sin(E) - mean) / (1.0 - e * cos(E));
            return iteration;
        }
    }
    return -1;
}

static void position(const struct elements *o, double time, double r[3])
{
    double E = 0.0, motion = sqrt(1.0 / (o->axis * o->axis * o->axis)), turns;
    double mean = o->anomaly + motion * time;
    turns = floor(mean / 6.283185307179586 + 0.5);
    solve_kepler(mean - 6.283185307179586 * turns, o->eccentricity, &E);
    double x = o->axis * (cos(E) - o->eccentricity);
    double y = o->axis * sqrt(1.0 - o->eccentricity * o->eccentricity) * sin(E);
    double cw = cos(o->periapsis), sw = sin(o->periapsis), ci = cos(o->inclination), si = sin(o->inclination);
    double u = cw * x - sw * y, v = sw * x + cw * y, cn = cos(o->node), sn = sin(o->node);
    r[0] = cn * u - sn * ci * v;
    r[1] = sn * u + cn * ci * v;
    r[2] = si * v;
}

static double orbit_loss(const struct elements *orbit, const struct sighting *sightings, int count)
{
    double loss = 0.0;
    for (int i = 0; i < count; i++) {
        double r[3], delay = 0.0, distance = 0.0;
        for (int pass = 0; pass < 2; pass++) {
            position(orbit, sightings[i].time - delay, r);
            r[0] -= cos(sightings[i].time);
            r[1] -= sin(sightings[i].time);
            distance = sqrt(r[0] * r[0] + r[1] * r[1] + r[2] * r[2]);
            delay = 0.0001 * distance;
        }
        double dra = sin(atan2(r[1], r[0]) - sightings[i].right_ascension);
        double ddec = asin(r[2] / distance) - sightings[i].declination;
        loss += dra * dra + ddec * ddec;
    }
    return loss;
}

enum { COUNT = CORPUS_SIZE(40, 4), SIZE = 6 };

_Static_assert(sizeof(struct elements) == SIZE * sizeof(double), "no padding");

static double point[SIZE] = {2.3, 0.35, 0.2, 1.1, 0.7, 0.4};
static struct sighting sightings[COUNT];

static void setup(void)
{
    corpus_seed(182);
    for (int i = 0; i < COUNT; i++)
        sightings[i] = (struct sighting){0.37 * i, (float)corpus_uniform(-3.0, 3.0), (float)corpus_uniform(-0.2, 0.2),
                                         "X07"};
}

static struct elements params, shadow;

static void pack(struct elements *to, const double *x)
{
    memcpy(to, x, sizeof(*to));
}

static void unpack(const struct elements *from, double *g)
{
    memcpy(g, from, sizeof(*from));
}

static double value(const double *x)
{
    pack(&params, x);
    return orbit_loss(&params, sightings, COUNT);
}

static double tangent(const double *x, const double *v)
{
    pack(&params, x);
    pack(&shadow, v);
    return __enzyme_fwddiff((void *)orbit_loss, enzyme_dup, &params, &shadow, enzyme_const, sightings, enzyme_const,
                            COUNT);
}

static void gradient(const double *x, double *g)
{
    pack(&params, x);
    memset(&shadow, 0, sizeof(shadow));
    __enzyme_autodiff((void *)orbit_loss, enzyme_dup, &params, &shadow, enzyme_const, sightings, enzyme_const, COUNT);
    unpack(&shadow, g);
}

static const struct corpus_problem problem = {
    .name = "kepler",
    .size = SIZE,
    .point = point,
    .setup = setup,
    .value = value,
    .tangent = tangent,
    .gradient = gradient,
    .coordinates = CORPUS_ALL,
    .step = 1.0 / 256.0,
};

CORPUS_MAIN(&problem)
