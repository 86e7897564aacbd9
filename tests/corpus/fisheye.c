// A camera rig: cameras (struct with intrinsics, distortion, pose) and points are linked by a list of observations
// with flags; fisheye projection, Cauchy loss, points behind a camera are skipped. All parameters live in one struct
// of arrays.
// Source: Kannala, Brandt, IEEE PAMI 28 (2006); Triggs et al., "Bundle adjustment" (2000).
#include "corpus.h"
#include <stdbool.h>

struct camera {
    int id;
    float exposure;
    double focal, distortion[2];
    struct {
        double rotation[3], translation[3];
    } pose;
};

struct observation {
    unsigned camera : 6;
    unsigned point : 10;
    bool ignored : 1;
    float u, v;
};

enum { CAMERAS = CORPUS_SIZE(6, 2), POINTS = CORPUS_SIZE(30, 4), PER = 9, SIZE = PER * CAMERAS + 3 * POINTS };
enum { OBSERVATIONS = CAMERAS * POINTS };

struct scene {
    int cameras, points;
    struct camera camera[CAMERAS];
    double point[POINTS][3];
};

static void rotate(const double w[3], const double p[3], double out[3])
{
    double angle2 = w[0] * w[0] + w[1] * w[1] + w[2] * w[2];
    double c[3] = {w[1] * p[2] - w[2] * p[1], w[2] * p[0] - w[0] * p[2], w[0] * p[1] - w[1] * p[0]};
    if (angle2 < 1e-12) {
        for (int i = 0; i < 3; i++)
            out[i] = p[i] + c[i];
        return;
    }
    double angle = sqrt(angle2), s = sin(angle) / angle, k = (1.0 - cos(angle)) / angle2;
    double along = w[0] * p[0] + w[1] * p[1] + w[2] * p[2];
    for (int i = 0; i < 3; i++)
        out[i] = cos(angle) * p[i] + s * c[i] + k * along * w[i];
}

static bool project(const struct camera *c, const double *p, double *u, double *v)
{
    double q[3];
    rotate(c->pose.rotation, p, q);
    for (int i = 0; i < 3; i++)
        q[i] += c->pose.translation[i];
    if (q[2] < 0.1)
        return false;
    double radius = sqrt(q[0] * q[0] + q[1] * q[1]), theta = atan2(radius, q[2]), t2 = theta * theta;
    double scale = c->focal * theta * (1.0 + c->distortion[0] * t2 + c->distortion[1] * t2 * t2) / radius;
    *u = scale * q[0];
    *v = scale * q[1];
    return true;
}

static double rig_loss(const struct scene *scene, const struct observation *observations, int count)
{
    double loss = 0.0;
    for (const struct observation *o = observations; o != observations + count; o++) {
        double u, v;
        if (o->ignored || !project(&scene->camera[o->camera], scene->point[o->point], &u, &v))
            continue;
        double du = u - o->u, dv = v - o->v;
        loss += log1p(du * du + dv * dv);
    }
    return loss;
}

static double point[SIZE];
static struct scene params, shadow;
static struct observation observations[OBSERVATIONS];

static void setup(void)
{
    corpus_seed(175);
    for (int i = 0; i < CAMERAS; i++) {
        corpus_fill(point + PER * i, PER, -0.2, 0.2);
        point[PER * i] = 1.0;
        point[PER * i + 8] = i == 1 ? -0.2 : 3.0;
    }
    corpus_fill(point + PER * CAMERAS, 3 * POINTS, -1.0, 1.0);
    for (int k = 0; k < OBSERVATIONS; k++)
        observations[k] = (struct observation){(unsigned)(k % CAMERAS), (unsigned)(k / CAMERAS), k % 7 == 3,
                                               (float)corpus_uniform(-0.5, 0.5), (float)corpus_uniform(-0.5, 0.5)};
}

static void pack(struct scene *to, const double *x)
{
    memset(to, 0, sizeof(*to));
    to->cameras = CAMERAS;
    to->points = POINTS;
    for (int i = 0; i < CAMERAS; i++, x += PER) {
        to->camera[i].id = i;
        to->camera[i].focal = x[0];
        corpus_copy(to->camera[i].distortion, x + 1, 2);
        corpus_copy(to->camera[i].pose.rotation, x + 3, 3);
        corpus_copy(to->camera[i].pose.translation, x + 6, 3);
    }
    memcpy(to->point, x, sizeof(to->point));
}

static void unpack(const struct scene *from, double *g)
{
    for (int i = 0; i < CAMERAS; i++, g += PER) {
        g[0] = from->camera[i].focal;
        corpus_copy(g + 1, from->camera[i].distortion, 2);
        corpus_copy(g + 3, from->camera[i].pose.rotation, 3);
        corpus_copy(g + 6, from->camera[i].pose.translation, 3);
    }
    memcpy(g, from->point, sizeof(from->point));
}

static double value(const double *x)
{
    pack(&params, x);
    return rig_loss(&params, observations, OBSERVATIONS);
}

static double tangent(const double *x, const double *v)
{
    pack(&params, x);
    pack(&shadow, v);
    return __enzyme_fwddiff((void *)rig_loss, enzyme_dup, &params, &shadow, enzyme_const, observations, enzyme_const,
                            OBSERVATIONS);
}

static void gradient(const double *x, double *g)
{
    pack(&params, x);
    memset(&shadow, 0, sizeof(shadow));
    __enzyme_autodiff((void *)rig_loss, enzyme_dup, &params, &shadow, enzyme_const, observations, enzyme_const,
                      OBSERVATIONS);
    unpack(&shadow, g);
}

static const struct corpus_problem problem = {
    .name = "fisheye",
    .size = SIZE,
    .point = point,
    .setup = setup,
    .value = value,
    .tangent = tangent,
    .gradient = gradient,
    .step = 0x1p-12, // no point passes behind a camera
};

CORPUS_MAIN(&problem)
