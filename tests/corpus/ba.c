// Bundle adjustment: with camera = (rotation r, centre c, focal length f, principal point p, radial distortion k),
//
//   X' = R(r) (X - c),  u = (X'_1, X'_2) / X'_3,  u <- u (1 + k_1 |u|^2 + k_2 |u|^4),  residual = w (f u + p - measured)
//   weight residual = 1 - w^2
//
// R(r) by the formula of Rodrigues. The loss is the sum of the squares of all residuals.
// Source: Srajer, Kukelova, Fitzgibbon (2018), section 4.2 (see gmm.c).
#include "corpus.h"

enum { CAMERA = 11, ROTATION = 0, CENTRE = 3, FOCAL = 6, PRINCIPAL = 7, RADIAL = 9 };

static void cross(const double *a, const double *b, double *out)
{
    out[0] = a[1] * b[2] - a[2] * b[1];
    out[1] = a[2] * b[0] - a[0] * b[2];
    out[2] = a[0] * b[1] - a[1] * b[0];
}

static void rotate(const double *rotation, const double *v, double *out)
{
    double squared = rotation[0] * rotation[0] + rotation[1] * rotation[1] + rotation[2] * rotation[2];
    if (squared == 0.0) {
        double turned[3];
        cross(rotation, v, turned);
        for (int i = 0; i < 3; i++)
            out[i] = v[i] + turned[i];
        return;
    }
    double angle = sqrt(squared), sine = sin(angle), cosine = cos(angle);
    double axis[3], turned[3], along = 0.0;
    for (int i = 0; i < 3; i++)
        axis[i] = rotation[i] / angle;
    cross(axis, v, turned);
    for (int i = 0; i < 3; i++)
        along += axis[i] * v[i];
    along *= 1.0 - cosine;
    for (int i = 0; i < 3; i++)
        out[i] = v[i] * cosine + turned[i] * sine + axis[i] * along;
}

static void project(const double *camera, const double *position, double *image)
{
    double relative[3], seen[3];
    for (int i = 0; i < 3; i++)
        relative[i] = position[i] - camera[CENTRE + i];
    rotate(camera + ROTATION, relative, seen);
    image[0] = seen[0] / seen[2];
    image[1] = seen[1] / seen[2];
    double squared = image[0] * image[0] + image[1] * image[1];
    double stretch = 1.0 + camera[RADIAL] * squared + camera[RADIAL + 1] * squared * squared;
    for (int i = 0; i < 2; i++) {
        image[i] *= stretch;
        image[i] = image[i] * camera[FOCAL] + camera[PRINCIPAL + i];
    }
}

static void reprojection_residual(const double *camera, const double *position, double weight, const double *measured,
                                  double *residual)
{
    project(camera, position, residual);
    residual[0] = weight * (residual[0] - measured[0]);
    residual[1] = weight * (residual[1] - measured[1]);
}

static double weight_residual(double weight)
{
    return 1.0 - weight * weight;
}

static double ba_objective(int count, const int *observations, const double *cameras, const double *positions,
                           const double *weights, const double *measured)
{
    double loss = 0.0;
    for (int i = 0; i < count; i++) {
        double residual[2];
        const double *camera = cameras + CAMERA * observations[2 * i];
        const double *position = positions + 3 * observations[2 * i + 1];
        reprojection_residual(camera, position, weights[i], measured + 2 * i, residual);
        double excess = weight_residual(weights[i]);
        loss += residual[0] * residual[0] + residual[1] * residual[1] + excess * excess;
    }
    return loss;
}

enum {
    CAMERAS = CORPUS_SIZE(8, 2),
    POSITIONS = CORPUS_SIZE(60, 5),
    OBSERVATIONS = CORPUS_SIZE(400, 8),
    FIRST_POSITION = CAMERAS * CAMERA,
    FIRST_WEIGHT = FIRST_POSITION + 3 * POSITIONS,
    SIZE = FIRST_WEIGHT + OBSERVATIONS
};

static double point[SIZE], measured[2 * OBSERVATIONS];
static int observations[2 * OBSERVATIONS];

static void setup(void)
{
    corpus_seed(2);
    for (int i = 0; i < CAMERAS; i++) {
        double *camera = point + CAMERA * i;
        corpus_fill(camera + ROTATION, 3, -0.3, 0.3);
        corpus_fill(camera + CENTRE, 2, -0.5, 0.5);
        camera[CENTRE + 2] = corpus_uniform(-6.0, -5.0);
        camera[FOCAL] = corpus_uniform(0.8, 1.2);
        corpus_fill(camera + PRINCIPAL, 2, -0.1, 0.1);
        corpus_fill(camera + RADIAL, 2, -0.1, 0.1);
    }
    // One camera without rotation would sit on the branch of the formula: see ba_point below for that branch.
    corpus_fill(point + FIRST_POSITION, 3 * POSITIONS, -1.0, 1.0);
    corpus_fill(point + FIRST_WEIGHT, OBSERVATIONS, 0.5, 1.5);
    for (int i = 0; i < OBSERVATIONS; i++) {
        observations[2 * i] = i % CAMERAS;
        observations[2 * i + 1] = (7 * i + i / CAMERAS) % POSITIONS;
    }
    corpus_fill(measured, 2 * OBSERVATIONS, -0.3, 0.3);
}

static double value(const double *x)
{
    return ba_objective(OBSERVATIONS, observations, x, x + FIRST_POSITION, x + FIRST_WEIGHT, measured);
}

static double tangent(const double *x, const double *v)
{
    return __enzyme_fwddiff((void *)ba_objective, enzyme_const, OBSERVATIONS, enzyme_const, observations, enzyme_dup,
                            x, v, enzyme_dup, x + FIRST_POSITION, v + FIRST_POSITION, enzyme_dup, x + FIRST_WEIGHT,
                            v + FIRST_WEIGHT, enzyme_const, measured);
}

static void gradient(const double *x, double *g)
{
    corpus_zero(g, SIZE);
    __enzyme_autodiff((void *)ba_objective, enzyme_const, OBSERVATIONS, enzyme_const, observations, enzyme_dup, x, g,
                      enzyme_dup, x + FIRST_POSITION, g + FIRST_POSITION, enzyme_dup, x + FIRST_WEIGHT,
                      g + FIRST_WEIGHT, enzyme_const, measured);
}

// The same gradient, residual by residual: J^T (2 r), each row block of the Jacobian by one reverse sweep.
static void gradient_by_residual(const double *x, double *g)
{
    corpus_zero(g, SIZE);
    for (int i = 0; i < OBSERVATIONS; i++) {
        size_t camera = (size_t)(CAMERA * observations[2 * i]);
        size_t position = (size_t)(FIRST_POSITION + 3 * observations[2 * i + 1]);
        double weight = x[FIRST_WEIGHT + i], residual[2], seed[2];
        reprojection_residual(x + camera, x + position, weight, measured + 2 * i, residual);
        seed[0] = 2.0 * residual[0];
        seed[1] = 2.0 * residual[1];
        g[FIRST_WEIGHT + i] = __enzyme_autodiff((void *)reprojection_residual, enzyme_dup, x + camera, g + camera,
                                                enzyme_dup, x + position, g + position, enzyme_out, weight,
                                                enzyme_const, measured + 2 * i, enzyme_dupnoneed, residual, seed);
        g[FIRST_WEIGHT + i] += 2.0 * weight_residual(weight) * __enzyme_autodiff((void *)weight_residual, weight);
    }
}

static const struct corpus_problem problem = {
    .name = "ba",
    .size = SIZE,
    .point = point,
    .setup = setup,
    .value = value,
    .tangent = tangent,
    .gradient = gradient,
    .variants = {{.name = "gradient residual by residual", .gradient = gradient_by_residual}},
};

// One point seen by a camera without rotation: the linearised branch. Only the point is active, since the rotation's
// derivative at zero is not what finite differences of the other branch give to full accuracy.
static double point_loss(const double *camera, const double *position, const double *target)
{
    double residual[2];
    reprojection_residual(camera, position, 1.0, target, residual);
    return residual[0] * residual[0] + residual[1] * residual[1];
}

static const double still_camera[CAMERA] = {0, 0, 0, 0.1, 0.2, -5, 1.1, 0.01, 0.02, 0.1, 0.05};
static const double still_target[2] = {0.3, -0.2};
static const double still_point[3] = {0.4, -0.5, 0.6};

static double still_value(const double *x)
{
    return point_loss(still_camera, x, still_target);
}

static double still_tangent(const double *x, const double *v)
{
    return __enzyme_fwddiff((void *)point_loss, enzyme_const, still_camera, enzyme_dup, x, v, enzyme_const,
                            still_target);
}

static void still_gradient(const double *x, double *g)
{
    corpus_zero(g, 3);
    __enzyme_autodiff((void *)point_loss, enzyme_const, still_camera, enzyme_dup, x, g, enzyme_const, still_target);
}

static const struct corpus_problem still_problem = {
    .name = "ba_point",
    .size = 3,
    .point = still_point,
    .value = still_value,
    .tangent = still_tangent,
    .gradient = still_gradient,
    .coordinates = CORPUS_ALL,
};

CORPUS_MAIN(&problem, &still_problem)
