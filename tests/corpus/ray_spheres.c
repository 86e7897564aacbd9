// A small ray tracer: spheres and a chequered floor, diffuse light with soft falloff, mirror reflections by
// recursion, rays and hits returned by value. Loss = squared difference to a constant picture. Active: centres,
// radii, reflectivities.
// Source: Whitted, Comm. ACM 23 (1980).
#include "corpus.h"

typedef struct {
    double x, y, z;
} vec;

struct sphere {
    vec centre;
    double radius;
    float albedo;
    double mirror;
};

struct hit {
    const struct sphere *object;
    double distance;
    vec position, normal;
};

static vec add_scaled(vec a, double s, vec b)
{
    return (vec){a.x + s * b.x, a.y + s * b.y, a.z + s * b.z};
}

static double dot(vec a, vec b)
{
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

static vec unit(vec a)
{
    double s = 1.0 / sqrt(dot(a, a));
    return (vec){s * a.x, s * a.y, s * a.z};
}

static struct hit intersect(const struct sphere *spheres, int count, vec origin, vec direction)
{
    struct hit nearest = {NULL, HUGE_VAL, {0}, {0}};
    for (int i = 0; i < count; i++) {
        vec to = add_scaled(spheres[i].centre, -1.0, origin);
        double middle = dot(to, direction);
        double discriminant = spheres[i].radius * spheres[i].radius - dot(to, to) + middle * middle;
        if (discriminant <= 0.0)
            continue;
        double distance = middle - sqrt(discriminant);
        if (distance > 1e-6 && distance < nearest.distance) {
            nearest.object = &spheres[i];
            nearest.distance = distance;
        }
    }
    if (nearest.object) {
        nearest.position = add_scaled(origin, nearest.distance, direction);
        nearest.normal = unit(add_scaled(nearest.position, -1.0, nearest.object->centre));
    }
    return nearest;
}

static double trace(const struct sphere *spheres, int count, vec origin, vec direction, int depth)
{
    static const vec light = {0.48, 0.64, -0.6};
    struct hit hit = intersect(spheres, count, origin, direction);
    if (!hit.object)
        return 0.3 + 0.2 * direction.y;
    double diffuse = dot(hit.normal, light), shade = 0.1;
    if (diffuse > 0.0)
        shade += hit.object->albedo * diffuse;
    if (depth == 0)
        return shade;
    vec reflected = add_scaled(direction, -2.0 * dot(direction, hit.normal), hit.normal);
    double mirror = hit.object->mirror;
    return (1.0 - mirror) * shade + mirror * trace(spheres, count, hit.position, reflected, depth - 1);
}

static double picture_loss(const struct sphere *spheres, int count, const double *picture, int side)
{
    double loss = 0.0;
    for (int y = 0; y < side; y++)
        for (int x = 0; x < side; x++) {
            vec direction = unit((vec){(x + 0.5) / side - 0.5, (y + 0.5) / side - 0.5, 1.0});
            double error = trace(spheres, count, (vec){0.0, 0.0, -3.0}, direction, 3) - picture[y * side + x];
            loss += error * error;
        }
    return loss;
}

enum { COUNT = 5, PER = 5, SIDE = CORPUS_SIZE(20, 4), SIZE = COUNT * PER };

static double point[SIZE], picture[SIDE * SIDE];
static struct sphere params[COUNT], shadow[COUNT];

static void setup(void)
{
    static const double start[SIZE] = {0.0,  0.1,  0.3, 0.6,  0.3, -0.9, 0.2, 0.8, 0.5, 0.4, 0.8,  -0.1, 0.5,
                                       0.55, 0.25, 0.1, -1.6, 1.0, 1.2,  0.2, 0.2, 1.1, 1.5,  0.7,  0.35};
    corpus_copy(point, start, SIZE);
    corpus_seed(170);
    corpus_fill(picture, SIDE * SIDE, 0.0, 1.0);
}

static void pack(struct sphere *to, const double *x)
{
    memset(to, 0, sizeof(params));
    for (int i = 0; i < COUNT; i++, x += PER) {
        to[i].centre = (vec){x[0], x[1], x[2]};
        to[i].radius = x[3];
        to[i].mirror = x[4];
        to[i].albedo = to == params ? 0.5f + 0.0625f * (float)i : 0.0f;
    }
}

static void unpack(const struct sphere *from, double *g)
{
    for (int i = 0; i < COUNT; i++, g += PER) {
        g[0] = from[i].centre.x;
        g[1] = from[i].centre.y;
        g[2] = from[i].centre.z;
        g[3] = from[i].radius;
        g[4] = from[i].mirror;
    }
}

static double value(const double *x)
{
    pack(params, x);
    return picture_loss(params, COUNT, picture, SIDE);
}

static double tangent(const double *x, const double *v)
{
    pack(params, x);
    pack(shadow, v);
    return __enzyme_fwddiff((void *)picture_loss, enzyme_dup, params, shadow, enzyme_const, COUNT, enzyme_const,
                            picture, enzyme_const, SIDE);
}

static void gradient(const double *x, double *g)
{
    pack(params, x);
    memset(shadow, 0, sizeof(shadow));
    __enzyme_autodiff((void *)picture_loss, enzyme_dup, params, shadow, enzyme_const, COUNT, enzyme_const, picture,
                      enzyme_const, SIDE);
    unpack(shadow, g);
}

static const struct corpus_problem problem = {
    .name = "ray_spheres",
    .size = SIZE,
    .point = point,
    .setup = setup,
    .value = value,
    .tangent = tangent,
    .gradient = gradient,
    .step = 0x1p-22, // no ray changes its object
    .fd_tolerance = 1e-4, // rounding over a small step
};

CORPUS_MAIN(&problem)
