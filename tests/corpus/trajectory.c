// A damped pendulum integrated by Heun's method with a step-size controller: how many steps it takes is not known
// before, so the trajectory is appended to an array that doubles by realloc. The loss reads the array after the
// integration:
//
//   q'' = -k sin q - c q' + a cos(w t),   loss = trapezoidal rule of q^2 over the accepted times + the last energy
//
// Source: Hairer, Norsett, Wanner, "Solving Ordinary Differential Equations I", section II.4.
#include "corpus.h"

struct sample {
    double time;
    double angle;
    double speed;
};

struct trajectory {
    struct sample *samples;
    size_t count;
    size_t capacity;
};

static int append(struct trajectory *trajectory, double time, double angle, double speed)
{
    if (trajectory->count == trajectory->capacity) {
        size_t capacity = trajectory->capacity ? 2 * trajectory->capacity : 4;
        struct sample *samples = realloc(trajectory->samples, capacity * sizeof(*samples));
        if (!samples)
            return -1;
        trajectory->samples = samples;
        trajectory->capacity = capacity;
    }
    struct sample *last = &trajectory->samples[trajectory->count++];
    last->time = time;
    last->angle = angle;
    last->speed = speed;
    return 0;
}

static double acceleration(const double *p, double t, double q, double v)
{
    return -p[0] * sin(q) - p[1] * v + p[2] * cos(p[3] * t);
}

static double pendulum_loss(const double *p, double end, double tolerance)
{
    struct trajectory trajectory = {NULL, 0, 0};
    double t = 0.0, q = p[4], v = p[5], h = 0.05;

    append(&trajectory, t, q, v);
    while (t < end) {
        if (t + h > end)
            h = end - t;
        double a0 = acceleration(p, t, q, v);
        double q1 = q + h * v, v1 = v + h * a0;
        double a1 = acceleration(p, t + h, q1, v1);
        double error = 0.5 * h * fabs(a1 - a0);
        if (error > tolerance) {
            h *= 0.5;
            continue;
        }
        q += 0.5 * h * (v + v1);
        v += 0.5 * h * (a0 + a1);
        t += h;
        append(&trajectory, t, q, v);
        if (error < 0.25 * tolerance)
            h *= 1.5;
    }

    double loss = 0.0;
    for (size_t i = 1; i < trajectory.count; i++) {
        const struct sample *a = &trajectory.samples[i - 1], *b = &trajectory.samples[i];
        loss += 0.5 * (b->time - a->time) * (a->angle * a->angle + b->angle * b->angle);
    }
    const struct sample *last = &trajectory.samples[trajectory.count - 1];
    loss += 0.5 * last->speed * last->speed + p[0] * (1.0 - cos(last->angle));
    free(trajectory.samples);
    return loss;
}

enum { SIZE = 6 };

static double point[SIZE];
static const double end_time = CORPUS_SIZE(6.0, 0.5);

static void setup(void)
{
    static const double start[SIZE] = {2.0, 0.15, 0.4, 1.3, 0.8, -0.2};
    corpus_copy(point, start, SIZE);
}

static double value(const double *x)
{
    return pendulum_loss(x, end_time, 0.004);
}

static double tangent(const double *x, const double *v)
{
    return __enzyme_fwddiff((void *)pendulum_loss, enzyme_dup, x, v, enzyme_const, end_time, enzyme_const, 0.004);
}

static void gradient(const double *x, double *g)
{
    corpus_zero(g, SIZE);
    __enzyme_autodiff((void *)pendulum_loss, enzyme_dup, x, g, enzyme_const, end_time, enzyme_const, 0.004);
}

static const struct corpus_problem problem = {
    .name = "trajectory",
    .size = SIZE,
    .point = point,
    .setup = setup,
    .value = value,
    .tangent = tangent,
    .gradient = gradient,
    .step = 0x1p-22, // so small that the controller takes the same decisions
    .fd_tolerance = 1e-6, // rounding over a step of 2^-22
};

CORPUS_MAIN(&problem)
