// Tagged variants: a scene of shapes in an array of structs with a union, moments of area by a switch over the tag, and
// transformations that turn one kind into another in place (a box sheared becomes a polygon).
//
//   loss = total area + (second moment about the origin) / 10 + |centroid|^2
#include "corpus.h"

enum kind { CIRCLE, BOX, POLYGON };
enum { CORNERS = 6 };

struct point2 {
    double x, y;
};

struct shape {
    enum kind kind;
    union {
        struct {
            struct point2 centre;
            double radius;
        } circle;
        struct {
            struct point2 low, high;
        } box;
        struct {
            int count;
            struct point2 corners[CORNERS];
        } polygon;
    } as;
};

struct moments {
    double area, x, y, second;
};

static void shear(struct shape *shape, double amount)
{
    if (shape->kind == BOX) {
        struct point2 low = shape->as.box.low, high = shape->as.box.high;
        shape->kind = POLYGON;
        shape->as.polygon.count = 4;
        shape->as.polygon.corners[0] = low;
        shape->as.polygon.corners[1] = (struct point2){high.x, low.y};
        shape->as.polygon.corners[2] = high;
        shape->as.polygon.corners[3] = (struct point2){low.x, high.y};
    }
    if (shape->kind == POLYGON)
        for (int i = 0; i < shape->as.polygon.count; i++)
            shape->as.polygon.corners[i].x += amount * shape->as.polygon.corners[i].y;
    else
        shape->as.circle.centre.x += amount * shape->as.circle.centre.y;
}

static struct moments measure(const struct shape *shape)
{
    struct moments m = {0.0, 0.0, 0.0, 0.0};
    switch (shape->kind) {
    case CIRCLE: {
        double r = shape->as.circle.radius, d = 0.0;
        struct point2 c = shape->as.circle.centre;
        d = c.x * c.x + c.y * c.y;
        m.area = 3.14159265358979323846 * r * r;
        m.x = m.area * c.x;
        m.y = m.area * c.y;
        m.second = m.area * (d + 0.5 * r * r);
        break;
    }
    case BOX: {
        struct point2 a = shape->as.box.low, b = shape->as.box.high;
        m.area = (b.x - a.x) * (b.y - a.y);
        m.x = 0.5 * m.area * (a.x + b.x);
        m.y = 0.5 * m.area * (a.y + b.y);
        m.second = m.area * (a.x * a.x + a.x * b.x + b.x * b.x + a.y * a.y + a.y * b.y + b.y * b.y) / 3.0;
        break;
    }
    case POLYGON:
        for (int i = 0; i < shape->as.polygon.count; i++) {
            struct point2 a = shape->as.polygon.corners[i];
            struct point2 b = shape->as.polygon.corners[(i + 1) % shape->as.polygon.count];
            double cross = a.x * b.y - b.x * a.y;
            m.area += cross / 2.0;
            m.x += cross * (a.x + b.x) / 6.0;
            m.y += cross * (a.y + b.y) / 6.0;
            m.second += cross * (a.x * a.x + a.x * b.x + b.x * b.x + a.y * a.y + a.y * b.y + b.y * b.y) / 12.0;
        }
        break;
    }
    return m;
}

static double scene_loss(struct shape *shapes, int count, double amount)
{
    struct moments total = {0.0, 0.0, 0.0, 0.0};
    for (int i = 0; i < count; i++) {
        if (i % 2 == 1)
            shear(&shapes[i], amount);
        struct moments m = measure(&shapes[i]);
        total.area += m.area;
        total.x += m.x;
        total.y += m.y;
        total.second += m.second;
    }
    double cx = total.x / total.area, cy = total.y / total.area;
    return total.area + 0.1 * total.second + cx * cx + cy * cy;
}

enum { COUNT = CORPUS_SIZE(15, 5), PER = 2 * CORNERS, SIZE = PER * COUNT };

static double point[SIZE];
static struct shape params[COUNT], shadow[COUNT];
static const double shear_amount = 0.3;

static void setup(void)
{
    corpus_seed(112);
    for (int i = 0; i < COUNT; i++) {
        double x = corpus_uniform(-1.0, 1.0), y = corpus_uniform(-1.0, 1.0), r = corpus_uniform(0.5, 1.0);
        for (int k = 0; k < CORNERS; k++) {
            point[PER * i + 2 * k] = x + r * cos(1.05 * k);
            point[PER * i + 2 * k + 1] = y + r * sin(1.05 * k);
        }
        if (i % 3 == 1) {
            point[PER * i] = x - r;
            point[PER * i + 1] = y - r;
            point[PER * i + 2] = x + r;
            point[PER * i + 3] = y + 0.5 * r;
        }
    }
}

static void pack(struct shape *to, const double *x)
{
    memset(to, 0, sizeof(struct shape) * COUNT);
    for (int i = 0; i < COUNT; i++, x += PER) {
        switch (i % 3) {
        case 0:
            to[i].kind = CIRCLE;
            to[i].as.circle.centre = (struct point2){x[0], x[1]};
            to[i].as.circle.radius = x[2];
            break;
        case 1:
            to[i].kind = BOX;
            to[i].as.box.low = (struct point2){x[0], x[1]};
            to[i].as.box.high = (struct point2){x[2], x[3]};
            break;
        default:
            to[i].kind = POLYGON;
            to[i].as.polygon.count = CORNERS;
            for (int k = 0; k < CORNERS; k++)
                to[i].as.polygon.corners[k] = (struct point2){x[2 * k], x[2 * k + 1]};
        }
    }
}

// The shadow's tag is never read; the kinds are those before the transformation.
static void unpack(const struct shape *from, double *g)
{
    corpus_zero(g, SIZE);
    for (int i = 0; i < COUNT; i++, g += PER) {
        if (i % 3 == 0) {
            g[0] = from[i].as.circle.centre.x;
            g[1] = from[i].as.circle.centre.y;
            g[2] = from[i].as.circle.radius;
        } else if (i % 3 == 1) {
            g[0] = from[i].as.box.low.x;
            g[1] = from[i].as.box.low.y;
            g[2] = from[i].as.box.high.x;
            g[3] = from[i].as.box.high.y;
        } else {
            for (int k = 0; k < CORNERS; k++) {
                g[2 * k] = from[i].as.polygon.corners[k].x;
                g[2 * k + 1] = from[i].as.polygon.corners[k].y;
            }
        }
    }
}

static double value(const double *x)
{
    pack(params, x);
    return scene_loss(params, COUNT, shear_amount);
}

static double tangent(const double *x, const double *v)
{
    pack(params, x);
    pack(shadow, v);
    return __enzyme_fwddiff((void *)scene_loss, enzyme_dup, params, shadow, enzyme_const, COUNT, enzyme_const,
                            shear_amount);
}

static void gradient(const double *x, double *g)
{
    pack(params, x);
    memset(shadow, 0, sizeof(shadow));
    __enzyme_autodiff((void *)scene_loss, enzyme_dup, params, shadow, enzyme_const, COUNT, enzyme_const, shear_amount);
    unpack(shadow, g);
}

static const struct corpus_problem problem = {
    .name = "shapes_union",
    .size = SIZE,
    .point = point,
    .setup = setup,
    .value = value,
    .tangent = tangent,
    .gradient = gradient,
};

CORPUS_MAIN(&problem)
