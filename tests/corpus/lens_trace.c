// Rays through a photographic lens: a table of spherical surfaces and glasses, Snell's law at each, rays that miss a
// surface or are cut by the stop leave the loop early. Loss = mean squared distance from the chief ray at the sensor.
// Active: curvatures, distances and glass indices. Source: Welford, "Aberrations of Optical Systems", chapter 4.
#include "corpus.h"

struct surface {
    double curvature, thickness, index;
    float aperture;
    char name[6];
};

struct ray {
    double y, z, dy, dz;
};

enum outcome { THROUGH, MISSED, VIGNETTED, REFLECTED };

static enum outcome refract(struct ray *ray, const struct surface *s, double before)
{
    double c = s->curvature, length;
    if (fabs(c) < 1e-9) {
        length = -ray->z / ray->dz;
    } else {
        double f = c * (ray->y * ray->y + ray->z * ray->z) - 2.0 * ray->z;
        double g = ray->dz - c * (ray->y * ray->dy + ray->z * ray->dz), root = g * g - c * f;
        if (root < 0.0)
            return MISSED;
        length = f / (g + sqrt(root));
    }
    ray->y += length * ray->dy;
    ray->z += length * ray->dz;
    if (fabs(ray->y) > s->aperture)
        return VIGNETTED;
    double ny = -c * ray->y, nz = 1.0 - c * ray->z, ratio = before / s->index;
    double cosine = ray->dy * ny + ray->dz * nz, k = 1.0 - ratio * ratio * (1.0 - cosine * cosine);
    if (k < 0.0)
        return REFLECTED;
    double bend = sqrt(k) - ratio * cosine;
    ray->dy = ratio * ray->dy + bend * ny;
    ray->dz = ratio * ray->dz + bend * nz;
    return THROUGH;
}

static int trace(const struct surface *lens, int count, double height, double slope, double *image)
{
    double norm = sqrt(1.0 + slope * slope), index = 1.0;
    struct ray ray = {height, 0.0, slope / norm, 1.0 / norm};
    for (int i = 0; i < count; i++) {
        switch (refract(&ray, &lens[i], index)) {
        case MISSED:
        case REFLECTED:
            return -1;
        case VIGNETTED:
            return 0;
        case THROUGH:
            break;
        }
        index = lens[i].index;
        ray.z -= lens[i].thickness;
    }
    *image = ray.y - ray.z * ray.dy / ray.dz;
    return 1;
}

static double spot_size(const struct surface *lens, int count, int rays)
{
    static const double fields[] = {0.0, 0.08, 0.16};
    double loss = 0.0;
    for (size_t f = 0; f < CORPUS_COUNT(fields); f++) {
        double chief = 0.0, image, sum = 0.0;
        int through = 0;
        if (trace(lens, count, 0.0, fields[f], &chief) != 1)
            return NAN;
        for (int r = 0; r < rays; r++) {
            if (trace(lens, count, 7.0 * (2.0 * r + 1.0 - rays) / rays, fields[f], &image) <= 0)
                continue;
            sum += (image - chief) * (image - chief);
            through++;
        }
        loss += sum / through;
    }
    return loss;
}

enum { SURFACES = 6, SIZE = 3 * SURFACES };

static double point[SIZE];
static struct surface params[SURFACES], shadow[SURFACES];

static void setup(void)
{
    static const double triplet[SURFACES][3] = {
        {1 / 23.7, 4.8, 1.691}, {-1 / 7331.0, 5.4, 1.0}, {-1 / 24.5, 1.0, 1.673},
        {1 / 21.9, 4.8, 1.0},   {1 / 86.7, 4.1, 1.691},  {-1 / 20.4, 41.1, 1.0},
    };
    memcpy(point, triplet, sizeof(point));
}

static void pack(struct surface *to, const double *x)
{
    for (int i = 0; i < SURFACES; i++, x += 3) {
        struct surface s = {x[0], x[1], x[2], i == 3 ? 5.5f : 9.0f, "glass"};
        to[i] = s;
    }
}

static void unpack(const struct surface *from, double *g)
{
    for (int i = 0; i < SURFACES; i++, g += 3) {
        g[0] = from[i].curvature;
        g[1] = from[i].thickness;
        g[2] = from[i].index;
    }
}

static double value(const double *x)
{
    pack(params, x);
    return spot_size(params, SURFACES, CORPUS_SIZE(40, 5));
}

static double tangent(const double *x, const double *v)
{
    pack(params, x);
    pack(shadow, v);
    return __enzyme_fwddiff((void *)spot_size, enzyme_dup, params, shadow, enzyme_const, SURFACES, enzyme_const,
                            CORPUS_SIZE(40, 5));
}

static void gradient(const double *x, double *g)
{
    pack(params, x);
    memset(shadow, 0, sizeof(shadow));
    __enzyme_autodiff((void *)spot_size, enzyme_dup, params, shadow, enzyme_const, SURFACES, enzyme_const,
                      CORPUS_SIZE(40, 5));
    unpack(shadow, g);
}

static const struct corpus_problem problem = {
    .name = "lens_trace",
    .size = SIZE,
    .point = point,
    .setup = setup,
    .value = value,
    .tangent = tangent,
    .gradient = gradient,
    .coordinates = CORPUS_ALL,
    .step = 0x1p-18, // the same rays are cut
    .fd_tolerance = 1e-5, // rounding over a small step
    .dot_tolerance = 1e-8, // large terms cancel
};

CORPUS_MAIN(&problem)
