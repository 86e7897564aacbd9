// Clipping polygons against a convex window (Sutherland-Hodgman): two growing buffers that exchange their roles at
// every edge, early return when nothing is left. Loss = visible area and its centroid. Active: polygon corners and
// the window.
// Source: Sutherland, Hodgman, Comm. ACM 17 (1974).
#include "corpus.h"

struct corner {
    double x, y;
};

struct ring {
    struct corner *corners;
    int count;
};

static double side(struct corner a, struct corner b, struct corner p)
{
    return (b.x - a.x) * (p.y - a.y) - (b.y - a.y) * (p.x - a.x);
}

static void clip_edge(const struct ring *in, struct ring *out, struct corner a, struct corner b)
{
    out->count = 0;
    for (int i = 0; i < in->count; i++) {
        struct corner here = in->corners[i], next = in->corners[(i + 1) % in->count];
        double s = side(a, b, here), t = side(a, b, next);
        if (s >= 0.0)
            out->corners[out->count++] = here;
        if ((s >= 0.0) != (t >= 0.0)) {
            double share = s / (s - t);
            out->corners[out->count++] =
                (struct corner){here.x + share * (next.x - here.x), here.y + share * (next.y - here.y)};
        }
    }
}

static double visible(const struct corner *polygon, int count, const struct corner *window, int edges)
{
    size_t room = sizeof(struct corner) * (size_t)(count + 2 * edges);
    struct ring first = {malloc(room), count}, second = {malloc(room), 0}, *in = &first, *out = &second;
    double area = 0.0, cx = 0.0, cy = 0.0;
    memcpy(first.corners, polygon, sizeof(struct corner) * (size_t)count);
    for (int e = 0; e < edges; e++) {
        clip_edge(in, out, window[e], window[(e + 1) % edges]);
        if (out->count == 0) {
            free(first.corners);
            free(second.corners);
            return 0.0;
        }
        struct ring *swap = in;
        in = out;
        out = swap;
    }
    for (int i = 0; i < in->count; i++) {
        struct corner p = in->corners[i], q = in->corners[(i + 1) % in->count];
        double cross = p.x * q.y - q.x * p.y;
        area += 0.5 * cross;
        cx += (p.x + q.x) * cross / 6.0;
        cy += (p.y + q.y) * cross / 6.0;
    }
    free(first.corners);
    free(second.corners);
    return area + 0.3 * cx + 0.2 * cy;
}

static double overlap_loss(const struct corner *corners, int polygons, int count, const struct corner *window,
                           int edges)
{
    double loss = 0.0;
    for (int k = 0; k < polygons; k++) {
        double part = visible(corners + k * count, count, window, edges);
        loss += part * part + part;
    }
    return loss;
}

enum { POLYGONS = CORPUS_SIZE(12, 3), COUNT = 7, EDGES = 5, CORNERS = POLYGONS * COUNT + EDGES, SIZE = 2 * CORNERS };

static double point[SIZE];
static struct corner params[CORNERS], shadow[CORNERS];

static void setup(void)
{
    corpus_seed(201);
    for (int k = 0; k < POLYGONS; k++) {
        double x = corpus_uniform(-1.2, 1.2), y = k == 2 ? 9.0 : corpus_uniform(-1.2, 1.2);
        for (int i = 0; i < COUNT; i++) {
            double r = corpus_uniform(0.3, 0.8);
            point[2 * (k * COUNT + i)] = x + r * cos(0.9 * i);
            point[2 * (k * COUNT + i) + 1] = y + r * sin(0.9 * i);
        }
    }
    for (int e = 0; e < EDGES; e++) {
        point[2 * (POLYGONS * COUNT + e)] = cos(1.2566 * e);
        point[2 * (POLYGONS * COUNT + e) + 1] = sin(1.2566 * e);
    }
}

static void pack(struct corner *to, const double *x)
{
    for (int i = 0; i < CORNERS; i++)
        to[i] = (struct corner){x[2 * i], x[2 * i + 1]};
}

static void unpack(const struct corner *from, double *g)
{
    for (int i = 0; i < CORNERS; i++) {
        g[2 * i] = from[i].x;
        g[2 * i + 1] = from[i].y;
    }
}

static double value(const double *x)
{
    pack(params, x);
    return overlap_loss(params, POLYGONS, COUNT, params + POLYGONS * COUNT, EDGES);
}

static double tangent(const double *x, const double *v)
{
    pack(params, x);
    pack(shadow, v);
    return __enzyme_fwddiff((void *)overlap_loss, enzyme_dup, params, shadow, enzyme_const, POLYGONS, enzyme_const,
                            COUNT, enzyme_dup, params + POLYGONS * COUNT, shadow + POLYGONS * COUNT, enzyme_const,
                            EDGES);
}

static void gradient(const double *x, double *g)
{
    pack(params, x);
    memset(shadow, 0, sizeof(shadow));
    __enzyme_autodiff((void *)overlap_loss, enzyme_dup, params, shadow, enzyme_const, POLYGONS, enzyme_const, COUNT,
                      enzyme_dup, params + POLYGONS * COUNT, shadow + POLYGONS * COUNT, enzyme_const, EDGES);
    unpack(shadow, g);
}

static const struct corpus_problem problem = {
    .name = "clip_polygon",
    .size = SIZE,
    .point = point,
    .setup = setup,
    .value = value,
    .tangent = tangent,
    .gradient = gradient,
    .step = 0x1p-22, // the same corners are visible
    .fd_tolerance = 1e-5, // rounding over a small step
};

CORPUS_MAIN(&problem)
