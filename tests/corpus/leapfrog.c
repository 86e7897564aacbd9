// Kick-drift-kick leapfrog for N bodies in the plane; positions and velocities are advanced in place and the
// accelerations live in a scratch array which every step clears. Loss = |x(T) - target|^2 + relative energy drift.
// Source: Hairer, Lubich, Wanner, "Geometric Numerical Integration", section I.1.4 (Stormer-Verlet).
#include "corpus.h"

static void accelerate(int n, const double *masses, const double *positions, double *acceleration)
{
    memset(acceleration, 0, sizeof(double) * 2 * (size_t)n);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < i; j++) {
            double dx = positions[2 * j] - positions[2 * i], dy = positions[2 * j + 1] - positions[2 * i + 1];
            double squared = dx * dx + dy * dy + 0.05;
            double pull = 1.0 / (squared * sqrt(squared));
            acceleration[2 * i] += masses[j] * pull * dx;
            acceleration[2 * i + 1] += masses[j] * pull * dy;
            acceleration[2 * j] -= masses[i] * pull * dx;
            acceleration[2 * j + 1] -= masses[i] * pull * dy;
        }
}

static double energy(int n, const double *masses, const double *positions, const double *velocities)
{
    double total = 0.0;
    for (int i = 0; i < n; i++) {
        total += 0.5 * masses[i] * (velocities[2 * i] * velocities[2 * i] + velocities[2 * i + 1] * velocities[2 * i + 1]);
        for (int j = 0; j < i; j++) {
            double dx = positions[2 * j] - positions[2 * i], dy = positions[2 * j + 1] - positions[2 * i + 1];
            total -= masses[i] * masses[j] / sqrt(dx * dx + dy * dy + 0.05);
        }
    }
    return total;
}

static double leapfrog_loss(int n, const double *masses, double *positions, double *velocities, double *acceleration,
                            const double *target, int steps, double step)
{
    double before = energy(n, masses, positions, velocities);
    accelerate(n, masses, positions, acceleration);
    for (int t = 0; t < steps; t++) {
        for (int i = 0; i < 2 * n; i++) {
            velocities[i] += 0.5 * step * acceleration[i];
            positions[i] += step * velocities[i];
        }
        accelerate(n, masses, positions, acceleration);
        for (int i = 0; i < 2 * n; i++)
            velocities[i] += 0.5 * step * acceleration[i];
    }
    double after = energy(n, masses, positions, velocities);
    double loss = (after - before) * (after - before) / (before * before);
    for (int i = 0; i < 2 * n; i++)
        loss += (positions[i] - target[i]) * (positions[i] - target[i]);
    return loss;
}

enum { N = CORPUS_SIZE(8, 3), STEPS = CORPUS_SIZE(100, 4), VELOCITIES = 2 * N, MASSES = 4 * N, SIZE = 5 * N };

static const double step = 0.005;
static double point[SIZE], target[2 * N];
static double positions[2 * N], velocities[2 * N], acceleration[2 * N];
static double position_shadow[2 * N], velocity_shadow[2 * N], acceleration_shadow[2 * N];

static void setup(void)
{
    corpus_seed(14);
    for (int i = 0; i < N; i++) {
        double angle = 2.0 * M_PI * i / N, radius = corpus_uniform(0.8, 1.6);
        point[2 * i] = radius * cos(angle);
        point[2 * i + 1] = radius * sin(angle);
        point[VELOCITIES + 2 * i] = -sin(angle) + corpus_uniform(-0.1, 0.1);
        point[VELOCITIES + 2 * i + 1] = cos(angle) + corpus_uniform(-0.1, 0.1);
        point[MASSES + i] = corpus_uniform(0.2, 0.6);
    }
    corpus_fill(target, 2 * N, -1.0, 1.0);
}

static double value(const double *x)
{
    corpus_copy(positions, x, 2 * N);
    corpus_copy(velocities, x + VELOCITIES, 2 * N);
    return leapfrog_loss(N, x + MASSES, positions, velocities, acceleration, target, STEPS, step);
}

static double tangent(const double *x, const double *v)
{
    corpus_copy(positions, x, 2 * N);
    corpus_copy(velocities, x + VELOCITIES, 2 * N);
    corpus_copy(position_shadow, v, 2 * N);
    corpus_copy(velocity_shadow, v + VELOCITIES, 2 * N);
    corpus_zero(acceleration_shadow, 2 * N);
    return __enzyme_fwddiff((void *)leapfrog_loss, enzyme_const, N, enzyme_dup, x + MASSES, v + MASSES, enzyme_dup,
                            positions, position_shadow, enzyme_dup, velocities, velocity_shadow, enzyme_dup,
                            acceleration, acceleration_shadow, enzyme_const, target, enzyme_const, STEPS, enzyme_const,
                            step);
}

static void gradient(const double *x, double *g)
{
    corpus_zero(g, SIZE);
    corpus_copy(positions, x, 2 * N);
    corpus_copy(velocities, x + VELOCITIES, 2 * N);
    corpus_zero(acceleration_shadow, 2 * N);
    __enzyme_autodiff((void *)leapfrog_loss, enzyme_const, N, enzyme_dup, x + MASSES, g + MASSES, enzyme_dup, positions,
                      g, enzyme_dup, velocities, g + VELOCITIES, enzyme_dup, acceleration, acceleration_shadow,
                      enzyme_const, target, enzyme_const, STEPS, enzyme_const, step);
}

static void gradient_no_need(const double *x, double *g)
{
    corpus_zero(g, SIZE);
    corpus_copy(positions, x, 2 * N);
    corpus_copy(velocities, x + VELOCITIES, 2 * N);
    corpus_zero(acceleration_shadow, 2 * N);
    __enzyme_autodiff((void *)leapfrog_loss, N, x + MASSES, g + MASSES, enzyme_dupnoneed, positions, g,
                      enzyme_dupnoneed, velocities, g + VELOCITIES, enzyme_dupnoneed, acceleration,
                      acceleration_shadow, enzyme_const, target, STEPS, enzyme_const, step);
}

static const struct corpus_problem problem = {
    .name = "leapfrog",
    .size = SIZE,
    .point = point,
    .setup = setup,
    .value = value,
    .tangent = tangent,
    .gradient = gradient,
    .variants = {{.name = "gradient with enzyme_dupnoneed", .gradient = gradient_no_need}},
    .step = 1.0 / 256.0,
};

CORPUS_MAIN(&problem)
