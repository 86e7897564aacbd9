// One round after another of iterative closest points: nearest neighbours by a search over all, weights for outliers,
// and the best rotation by Horn's quaternion, found with shifted power iteration. Loss = final weighted distance.
// Active: the moving points. Source: Besl, McKay, IEEE PAMI 14 (1992); Horn, J. Opt. Soc. Am. A 4 (1987).
#include "corpus.h"

enum { POINTS = CORPUS_SIZE(40, 6), ROUNDS = CORPUS_SIZE(4, 2), SIZE = 3 * POINTS };

typedef struct {
    double r[3][3], t[3];
} pose;

static int nearest(const double fixed[][3], int count, const double *p, double *distance)
{
    int best = -1;
    *distance = HUGE_VAL;
    for (int i = 0; i < count; i++) {
        double d = 0.0;
        for (int k = 0; k < 3; k++)
            d += (fixed[i][k] - p[k]) * (fixed[i][k] - p[k]);
        if (d < *distance) {
            *distance = d;
            best = i;
        }
    }
    return best;
}

static void rotation_from_quaternion(const double q[4], double r[3][3])
{
    double w = q[0], x = q[1], y = q[2], z = q[3];
    double m[3][3] = {{1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)},
                      {2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)},
                      {2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)}};
    memcpy(r, m, sizeof(m));
}

static pose horn(const double (*from)[3], const double (*to)[3], const double *weights, int count)
{
    double cf[3] = {0}, ct[3] = {0}, s[3][3] = {{0}}, total = 0.0;
    for (int i = 0; i < count; i++) {
        total += weights[i];
        for (int k = 0; k < 3; k++) {
            cf[k] += weights[i] * from[i][k];
            ct[k] += weights[i] * to[i][k];
        }
    }
    for (int k = 0; k < 3; k++) {
        cf[k] /= total;
        ct[k] /= total;
    }
    for (int i = 0; i < count; i++)
        for (int j = 0; j < 3; j++)
            for (int k = 0; k < 3; k++)
                s[j][k] += weights[i] * (from[i][j] - cf[j]) * (to[i][k] - ct[k]) / total;
    double n[4][4] = {{s[0][0] + s[1][1] + s[2][2], s[1][2] - s[2][1], s[2][0] - s[0][2], s[0][1] - s[1][0]},
                      {0, s[0][0] - s[1][1] - s[2][2], s[0][1] + s[1][0], s[2][0] + s[0][2]},
                      {0, 0, s[1][1] - s[0][0] - s[2][2], s[1][2] + s[2][1]},
                      {0, 0, 0, s[2][2] - s[0][0] - s[1][1]}};
    double q[4] = {1.0, 0.1, 0.1, 0.1};
    for (int iteration = 0; iteration < 60; iteration++) {
        double next[4], norm = 0.0;
        for (int j = 0; j < 4; j++) {
            next[j] = 1.5 * q[j];
            for (int k = 0; k < 4; k++)
                next[j] += (k < j ? n[k][j] : n[j][k]) * q[k];
            norm += next[j] * next[j];
        }
        for (int j = 0; j < 4; j++)
            q[j] = next[j] / sqrt(norm);
    }
    pose p;
    rotation_from_quaternion(q, p.r);
    for (int j = 0; j < 3; j++) {
        p.t[j] = ct[j];
        for (int k = 0; k < 3; k++)
            p.t[j] -= p.r[j][k] * cf[k];
    }
    return p;
}

static double registration_loss(double (*moving)[3], const double (*fixed)[3], int count, int rounds)
{
    double (*pairs)[3] = malloc(sizeof(*pairs) * (size_t)count), *weights = malloc(sizeof(double) * (size_t)count);
    double loss = 0.0;
    for (int round = 0; round < rounds; round++) {
        loss = 0.0;
        for (int i = 0; i < count; i++) {
            double d;
            memcpy(pairs[i], fixed[nearest(fixed, count, moving[i], &d)], sizeof(*pairs));
            weights[i] = 1.0 / (1.0 + d);
            loss += weights[i] * d;
        }
        pose p = horn((const double (*)[3])moving, (const double (*)[3])pairs, weights, count);
        for (int i = 0; i < count; i++) {
            double old[3] = {moving[i][0], moving[i][1], moving[i][2]};
            for (int j = 0; j < 3; j++)
                moving[i][j] = p.r[j][0] * old[0] + p.r[j][1] * old[1] + p.r[j][2] * old[2] + p.t[j];
        }
    }
    free(weights);
    free(pairs);
    return loss;
}

static double point[SIZE], work[SIZE], shadow[SIZE], fixed[POINTS][3];

static void setup(void)
{
    corpus_seed(174);
    for (int i = 0; i < POINTS; i++) {
        corpus_fill(fixed[i], 3, -1.0, 1.0);
        point[3 * i] = 0.98 * fixed[i][0] - 0.2 * fixed[i][1] + 0.1 + corpus_uniform(-0.03, 0.03);
        point[3 * i + 1] = 0.2 * fixed[i][0] + 0.98 * fixed[i][1] + corpus_uniform(-0.03, 0.03);
        point[3 * i + 2] = fixed[i][2] - 0.05 + corpus_uniform(-0.03, 0.03);
    }
}

static double loss(double *moving)
{
    return registration_loss((double (*)[3])moving, (const double (*)[3])fixed, POINTS, ROUNDS);
}

static double value(const double *x)
{
    corpus_copy(work, x, SIZE);
    return loss(work);
}

static double tangent(const double *x, const double *v)
{
    corpus_copy(work, x, SIZE);
    corpus_copy(shadow, v, SIZE);
    return __enzyme_fwddiff((void *)loss, enzyme_dup, work, shadow);
}

static void gradient(const double *x, double *g)
{
    corpus_copy(work, x, SIZE);
    corpus_zero(g, SIZE);
    __enzyme_autodiff((void *)loss, enzyme_dup, work, g);
}

static const struct corpus_problem problem = {
    .name = "rigid_fit",
    .size = SIZE,
    .point = point,
    .setup = setup,
    .value = value,
    .tangent = tangent,
    .gradient = gradient,
    .step = 0x1p-20, // neighbours stay the same
    .fd_tolerance = 1e-5, // rounding over a small step
};

CORPUS_MAIN(&problem)
