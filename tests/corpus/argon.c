// Argon: atoms that attract and repel each other within a radius, each pair once, and move by Verlet's method. Nothing says that
// positions and velocities are apart. What a step overwrites is kept, not what each pair computes (`tests/tests/snapshots.rs`).
//
//   F = 24 (2 r^-12 - r^-6) / r^2 d for r < R,  v += dt F / 2,  x += dt v,  v += dt F / 2
//
// loss = kinetic energy at the end. Active: positions and velocities at the start.
// Source: Rahman, "Correlations in the motion of atoms in liquid argon", Physical Review 136, 1964.
#include "corpus.h"

enum { SIDE = CORPUS_SIZE(3, 2), ATOMS = SIDE * SIDE * SIDE, STEPS = CORPUS_SIZE(12, 3), COUNT = 6 * ATOMS };

struct vector {
    double x, y, z;
};

static void forces(const struct vector *p, struct vector *f, int n)
{
    for (int i = 0; i < n; i++)
        f[i] = (struct vector){0.0, 0.0, 0.0};
    for (int i = 0; i < n; i++)
        for (int j = i + 1; j < n; j++) {
            double x = p[i].x - p[j].x, y = p[i].y - p[j].y, z = p[i].z - p[j].z, square = x * x + y * y + z * z;
            if (square > 4.62)
                continue;
            double inverse = 1.0 / square, sixth = inverse * inverse * inverse;
            double force = 24.0 * inverse * sixth * (2.0 * sixth - 1.0);
            f[i].x += force * x;
            f[i].y += force * y;
            f[i].z += force * z;
            f[j].x -= force * x;
            f[j].y -= force * y;
            f[j].z -= force * z;
        }
}

__attribute__((noinline)) static double argon(struct vector *p, struct vector *v, int n, int steps, double dt)
{
    struct vector *f = malloc(sizeof *f * (size_t)n);
    forces(p, f, n);
    for (int t = 0; t < steps; t++) {
        for (int i = 0; i < n; i++) {
            v[i].x += 0.5 * dt * f[i].x;
            v[i].y += 0.5 * dt * f[i].y;
            v[i].z += 0.5 * dt * f[i].z;
            p[i].x += dt * v[i].x;
            p[i].y += dt * v[i].y;
            p[i].z += dt * v[i].z;
        }
        forces(p, f, n);
        for (int i = 0; i < n; i++) {
            v[i].x += 0.5 * dt * f[i].x;
            v[i].y += 0.5 * dt * f[i].y;
            v[i].z += 0.5 * dt * f[i].z;
        }
    }
    double energy = 0.0;
    for (int i = 0; i < n; i++)
        energy += 0.5 * (v[i].x * v[i].x + v[i].y * v[i].y + v[i].z * v[i].z);
    free(f);
    return energy;
}

// A state with a branch on what the step has just written: it is asked for after the store.
__attribute__((noinline)) static double bouncing(double *height, double *speed, int n, int steps)
{
    for (int t = 0; t < steps; t++)
        for (int i = 0; i < n; i++) {
            height[i] += 0.1 * speed[i];
            speed[i] -= 0.2 * height[i];
            if (height[i] < 0.0)
                speed[i] -= height[i] * height[i] * height[i];
            double excess = height[i] * speed[i] - 0.01;
            if (excess > 0.0)
                height[i] *= 1.0 + excess * excess;
        }
    double sum = 0.0;
    for (int i = 0; i < n; i++)
        sum += height[i] * speed[i];
    return sum;
}

static double point[COUNT], work[COUNT];

static void setup(void)
{
    corpus_seed(1964);
    corpus_fill(point, COUNT, -0.03, 0.03);
    for (int i = 0; i < ATOMS; i++) {
        point[3 * i] += 1.15 * (i % SIDE);
        point[3 * i + 1] += 1.15 * (i / SIDE % SIDE);
        point[3 * i + 2] += 1.15 * (i / SIDE / SIDE);
    }
}

static double value(const double *x)
{
    corpus_copy(work, x, COUNT);
    struct vector *p = (struct vector *)work;
    double energy = argon(p, p + ATOMS, ATOMS, STEPS, 0.004);
    return energy + bouncing(work, work + COUNT / 2, COUNT / 2, STEPS);
}

static double tangent(const double *x, const double *v)
{
    static double shadow[COUNT];
    corpus_copy(work, x, COUNT);
    corpus_copy(shadow, v, COUNT);
    double energy = __enzyme_fwddiff((void *)argon, enzyme_dup, work, shadow, enzyme_dup, work + COUNT / 2,
                                     shadow + COUNT / 2, enzyme_const, ATOMS, enzyme_const, STEPS, enzyme_const, 0.004);
    return energy + __enzyme_fwddiff((void *)bouncing, enzyme_dup, work, shadow, enzyme_dup, work + COUNT / 2,
                                     shadow + COUNT / 2, enzyme_const, COUNT / 2, enzyme_const, STEPS);
}

// The second part first, from the state that the first one leaves.
static void gradient(const double *x, double *g)
{
    struct vector *p = (struct vector *)work;
    corpus_zero(g, COUNT);
    corpus_copy(work, x, COUNT);
    argon(p, p + ATOMS, ATOMS, STEPS, 0.004);
    __enzyme_autodiff((void *)bouncing, enzyme_dup, work, g, enzyme_dup, work + COUNT / 2, g + COUNT / 2, enzyme_const,
                      COUNT / 2, enzyme_const, STEPS);
    corpus_copy(work, x, COUNT);
    __enzyme_autodiff((void *)argon, enzyme_dup, work, g, enzyme_dup, work + COUNT / 2, g + COUNT / 2, enzyme_const,
                      ATOMS, enzyme_const, STEPS, enzyme_const, 0.004);
}

static const struct corpus_problem problem = {
    .name = "argon",
    .size = COUNT,
    .point = point,
    .setup = setup,
    .value = value,
    .tangent = tangent,
    .gradient = gradient,
};

CORPUS_MAIN(&problem)
