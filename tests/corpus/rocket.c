// A two-stage rocket: phases of flight as an enum in a switch, stages dropped by advancing a pointer into an array of
// structs, pitch programme interpolated from control values. Loss = missed height and speed + fuel left, signed.
// Active: pitch programme, thrusts, propellant masses.
#include "corpus.h"

struct stage {
    double thrust, propellant;
    float dry_mass, exhaust_speed;
    struct stage *next;
};

enum phase { BURN, SEPARATE, COAST, DONE };

struct vehicle {
    enum phase phase;
    double x, y, vx, vy, mass, burnt;
    const struct stage *stage;
};

static double pitch(const double *programme, int count, double time)
{
    double s = time / 20.0;
    int i = (int)s;
    if (i >= count - 1)
        return programme[count - 1];
    return programme[i] + (s - i) * (programme[i + 1] - programme[i]);
}

static double total_mass(const struct stage *stage)
{
    return stage ? stage->dry_mass + stage->propellant + total_mass(stage->next) : 1.0;
}

static double flight_loss(const struct stage *first, const double *programme, int count, double dt, double end)
{
    struct vehicle v = {BURN, 0.0, 0.0, 0.0, 0.01, total_mass(first), 0.0, first};
    double t = 0.0;
    while (v.phase != DONE) {
        double thrust = 0.0, angle = pitch(programme, count, t);
        switch (v.phase) {
        case BURN:
            if (v.burnt >= v.stage->propellant) {
                v.phase = SEPARATE;
                continue;
            }
            thrust = v.stage->thrust;
            double flow = thrust / v.stage->exhaust_speed * dt;
            v.burnt += flow;
            v.mass -= flow;
            break;
        case SEPARATE:
            v.mass -= v.stage->dry_mass + (v.stage->propellant - v.burnt);
            v.stage = v.stage->next;
            v.burnt = 0.0;
            v.phase = v.stage ? BURN : COAST;
            continue;
        case COAST:
            if (t > end)
                v.phase = DONE;
            break;
        case DONE:
            break;
        }
        double r = 6371.0 + v.y, g = 0.00981 * (6371.0 * 6371.0) / (r * r), speed = sqrt(v.vx * v.vx + v.vy * v.vy);
        double drag = 0.02 * exp(-v.y / 8.0) * speed / v.mass;
        v.vx += dt * (thrust * cos(angle) / v.mass - drag * v.vx);
        v.vy += dt * (thrust * sin(angle) / v.mass - drag * v.vy - g + v.vx * v.vx / r);
        v.x += dt * v.vx;
        v.y += dt * v.vy;
        t += dt;
    }
    double dy = (v.y - 200.0) / 100.0, dv = v.vx - 5.0;
    return dy * dy + dv * dv + v.vy * v.vy + 1e-4 * v.x;
}

enum { STAGES = 2, CONTROLS = CORPUS_SIZE(12, 3), SIZE = 2 * STAGES + CONTROLS };

static double point[SIZE];
static struct stage params[STAGES], shadow[STAGES];

static void setup(void)
{
    static const double start[4] = {1.6, 60.05, 0.22, 12.015};
    corpus_copy(point, start, 4);
    for (int i = 0; i < CONTROLS; i++)
        point[4 + i] = 1.5 * exp(-0.25 * i);
}

static void pack(struct stage *to, const double *x)
{
    for (int i = 0; i < STAGES; i++) {
        to[i].thrust = x[2 * i];
        to[i].propellant = x[2 * i + 1];
        to[i].dry_mass = to == params ? (i ? 1.5f : 6.0f) : 0.0f;
        to[i].exhaust_speed = to == params ? (i ? 3.5f : 3.0f) : 0.0f;
        to[i].next = i + 1 < STAGES ? &to[i + 1] : NULL;
    }
}

// The shadow of a pointer is a pointer to a shadow.
static void link_shadow(void)
{
    for (int i = 0; i < STAGES; i++)
        shadow[i].next = i + 1 < STAGES ? &shadow[i + 1] : NULL;
}

static void unpack(const struct stage *from, double *g)
{
    for (int i = 0; i < STAGES; i++) {
        g[2 * i] = from[i].thrust;
        g[2 * i + 1] = from[i].propellant;
    }
}

static double value(const double *x)
{
    pack(params, x);
    return flight_loss(params, x + 4, CONTROLS, CORPUS_SIZE(0.25, 5.0), 350.0);
}

static double tangent(const double *x, const double *v)
{
    pack(params, x);
    pack(shadow, v);
    link_shadow();
    return __enzyme_fwddiff((void *)flight_loss, enzyme_dup, params, shadow, enzyme_dup, x + 4, v + 4, enzyme_const,
                            CONTROLS, enzyme_const, CORPUS_SIZE(0.25, 5.0), enzyme_const, 350.0);
}

static void gradient(const double *x, double *g)
{
    pack(params, x);
    memset(shadow, 0, sizeof(shadow));
    link_shadow();
    corpus_zero(g, SIZE);
    __enzyme_autodiff((void *)flight_loss, enzyme_dup, params, shadow, enzyme_dup, x + 4, g + 4, enzyme_const, CONTROLS,
                      enzyme_const, CORPUS_SIZE(0.25, 5.0), enzyme_const, 350.0);
    unpack(shadow, g);
}

static const struct corpus_problem problem = {
    .name = "rocket",
    .size = SIZE,
    .point = point,
    .setup = setup,
    .value = value,
    .tangent = tangent,
    .gradient = gradient,
    .step = 0x1p-20, // the stages burn out in the same steps
    .fd_tolerance = 1e-5, // rounding over a small step
};

CORPUS_MAIN(&problem)
