// Right-hand sides as callbacks: a solver that knows a system only as a structure of function pointers, with its parameters
// behind a void pointer; Heun's method and the classical Runge-Kutta method are pointers as well. Damped pendulum,
// predator and prey, van der Pol's oscillator. Hairer, Norsett, Wanner, Solving Ordinary Differential Equations I.
#include "corpus.h"

enum { DIM = 2, PARAMS = 3, SYSTEMS = 3, STEPS = CORPUS_SIZE(40, 6), N = SYSTEMS * PARAMS + DIM };

struct dynamics {
    void (*rate)(double t, const double *y, double *dy, const void *context);
    double (*energy)(const double *y, const void *context);
    const void *context;
};

typedef void (*stepper)(const struct dynamics *s, double t, double h, double *y);

struct pendulum {
    double damping, gravity, drive;
};

static void pendulum_rate(double t, const double *y, double *dy, const void *context)
{
    const struct pendulum *p = context;
    dy[0] = y[1];
    dy[1] = -p->gravity * sin(y[0]) - p->damping * y[1] + p->drive * cos(t);
}

static double pendulum_energy(const double *y, const void *context)
{
    const struct pendulum *p = context;
    return 0.5 * y[1] * y[1] + p->gravity * (1.0 - cos(y[0]));
}

static void prey_rate(double t, const double *y, double *dy, const void *context)
{
    const double *p = context;
    (void)t;
    dy[0] = y[0] * (p[0] - p[1] * y[1]);
    dy[1] = y[1] * (p[1] * y[0] - p[2]);
}

static double sum(const double *y, const void *context)
{
    (void)context;
    return y[0] + y[1];
}

static void oscillator_rate(double t, const double *y, double *dy, const void *context)
{
    const double *p = context;
    dy[0] = y[1];
    dy[1] = p[0] * (1.0 - y[0] * y[0]) * y[1] - p[1] * y[0] + p[2] * sin(2.0 * t);
}

static void heun(const struct dynamics *s, double t, double h, double *y)
{
    double k1[DIM], k2[DIM], z[DIM];
    s->rate(t, y, k1, s->context);
    for (int i = 0; i < DIM; i++)
        z[i] = y[i] + h * k1[i];
    s->rate(t + h, z, k2, s->context);
    for (int i = 0; i < DIM; i++)
        y[i] += 0.5 * h * (k1[i] + k2[i]);
}

static void runge_kutta(const struct dynamics *s, double t, double h, double *y)
{
    static const double at[4] = {0.0, 0.5, 0.5, 1.0}, weight[4] = {1.0 / 6, 1.0 / 3, 1.0 / 3, 1.0 / 6};
    double k[DIM] = {0.0, 0.0}, z[DIM], next[DIM] = {y[0], y[1]};
    for (int stage = 0; stage < 4; stage++) {
        for (int i = 0; i < DIM; i++)
            z[i] = y[i] + h * at[stage] * k[i];
        s->rate(t + h * at[stage], z, k, s->context);
        for (int i = 0; i < DIM; i++)
            next[i] += h * weight[stage] * k[i];
    }
    y[0] = next[0];
    y[1] = next[1];
}

__attribute__((noinline)) static double solve(const struct dynamics *s, stepper step, const double *start)
{
    double y[DIM] = {start[0], start[1]}, mean = 0.0;
    for (int n = 0; n < STEPS; n++) {
        step(s, 0.05 * n, 0.05, y);
        mean += s->energy(y, s->context) / STEPS;
    }
    return mean * y[0] + y[1];
}

static double total(const double *x)
{
    struct pendulum pendulum = {x[0], x[1], x[2]};
    const struct dynamics systems[SYSTEMS] = {
        {pendulum_rate, pendulum_energy, &pendulum},
        {prey_rate, sum, x + PARAMS},
        {oscillator_rate, sum, x + 2 * PARAMS},
    };
    stepper steppers[2] = {heun, runge_kutta};
    double result = 0.0;
    for (int i = 0; i < SYSTEMS; i++)
        for (int j = 0; j < 2; j++)
            result += (i + 1 + j) * solve(&systems[i], steppers[j], x + SYSTEMS * PARAMS);
    return result;
}

static double point[N], shadow[N];

static void setup(void)
{
    corpus_seed(302);
    corpus_fill(point, N, 0.4, 1.1);
}

static double tangent(const double *x, const double *v)
{
    corpus_copy(shadow, v, N);
    return __enzyme_fwddiff((void *)total, enzyme_dup, x, shadow);
}

static void gradient(const double *x, double *g)
{
    corpus_zero(g, N);
    __enzyme_autodiff((void *)total, enzyme_dup, x, g);
}

static const struct corpus_problem problem = {
    .name = "calls_ode",
    .size = N,
    .point = point,
    .setup = setup,
    .value = total,
    .tangent = tangent,
    .gradient = gradient,
    .coordinates = CORPUS_ALL,
};

CORPUS_MAIN(&problem)
