// Objects with a common header and a kind, as C programs imitate inheritance: circles, plates and groups of different
// size are cast from their header by kind; groups own arrays of pointers to headers. Area moments of a body, which is
// scaled. Active: positions, sizes, scale.
#include "corpus.h"

struct object {
    int kind;
    double x, y;
};

struct disc {
    struct object base;
    double radius;
};

struct plate {
    struct object base;
    float density;
    double width, height;
    int holes;
};

struct group {
    struct object base;
    int count;
    struct object **members;
};

enum { DISC, PLATE, GROUP };

static struct object *new_object(size_t size, int kind, const double *x)
{
    struct object *object = calloc(1, size);
    object->kind = kind;
    object->x = x[0];
    object->y = x[1];
    return object;
}

static struct object *build(const double **x, int depth)
{
    if (depth == 0) {
        struct disc *disc = (struct disc *)new_object(sizeof(*disc), DISC, *x);
        disc->radius = (*x)[2];
        *x += 3;
        return &disc->base;
    }
    if (depth == 1) {
        struct plate *plate = (struct plate *)new_object(sizeof(*plate), PLATE, *x);
        plate->density = 0.5f;
        plate->width = (*x)[2];
        plate->height = (*x)[3];
        plate->holes = 2;
        *x += 4;
        return &plate->base;
    }
    struct group *group = (struct group *)new_object(sizeof(*group), GROUP, *x);
    *x += 2;
    group->count = 3;
    group->members = malloc(sizeof(struct object *) * 3);
    for (int i = 0; i < 3; i++)
        group->members[i] = build(x, i == 2 ? depth - 1 : i);
    return &group->base;
}

static double moment(const struct object *object, double x, double y)
{
    double sum = 0.0, area;
    x += object->x;
    y += object->y;
    switch (object->kind) {
    case DISC:
        area = 3.141592653589793 * ((const struct disc *)object)->radius * ((const struct disc *)object)->radius;
        return area * (x * x + y * y);
    case PLATE: {
        const struct plate *plate = (const struct plate *)object;
        area = plate->density * plate->width * plate->height - 0.01 * plate->holes;
        return area * (x * x + y * y + plate->width * plate->width / 12.0);
    }
    case GROUP: {
        const struct group *group = (const struct group *)object;
        for (int i = 0; i < group->count; i++)
            sum += moment(group->members[i], x, y);
        return sum;
    }
    }
    return 0.0;
}

static void scale(struct object *object, double factor)
{
    object->x *= factor;
    if (object->kind == DISC) {
        ((struct disc *)object)->radius *= factor;
    } else if (object->kind == PLATE) {
        ((struct plate *)object)->width *= factor;
        ((struct plate *)object)->holes++;
    } else {
        for (int i = 0; i < ((struct group *)object)->count; i++)
            scale(((struct group *)object)->members[i], factor);
    }
}

static void destroy(struct object *object)
{
    if (object->kind == GROUP) {
        struct group *group = (struct group *)object;
        while (group->count-- > 0)
            destroy(group->members[group->count]);
        free(group->members);
    }
    free(object);
}

static double body_loss(const double *x, int depth, double factor)
{
    struct object *body = build(&x, depth);
    double loss = moment(body, 0.0, 0.0);
    scale(body, factor);
    loss += 0.1 * loss * moment(body, 0.5, -0.5);
    destroy(body);
    return loss;
}

enum { DEPTH = CORPUS_SIZE(6, 3), SIZE = 9 * (DEPTH - 1) + 4 + 1 };

static double point[SIZE];

static void setup(void)
{
    corpus_seed(229);
    corpus_fill(point, SIZE, 0.2, 1.0);
}

static double loss(const double *x)
{
    return body_loss(x, DEPTH, x[SIZE - 1]);
}

static double value(const double *x)
{
    return loss(x);
}

static double tangent(const double *x, const double *v)
{
    return __enzyme_fwddiff((void *)loss, enzyme_dup, x, v);
}

static void gradient(const double *x, double *g)
{
    corpus_zero(g, SIZE);
    __enzyme_autodiff((void *)loss, enzyme_dup, x, g);
}

static const struct corpus_problem problem = {
    .name = "object_family",
    .size = SIZE,
    .point = point,
    .setup = setup,
    .value = value,
    .tangent = tangent,
    .gradient = gradient,
};

CORPUS_MAIN(&problem)
