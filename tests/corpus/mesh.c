// A triangle mesh built by subdividing an octahedron: an indexed mesh whose vertex and face arrays are replaced by
// finer ones, edge midpoints shared through a small hash of vertex pairs. Loss = (volume - 2)^2 + area + inertia / 5.
// Active: a displacement of the first vertices and three scales.
#include "corpus.h"

typedef struct {
    float u, v;
    double position[3];
} vertex;

typedef struct {
    unsigned short corner[3];
} face;

typedef struct {
    int vertices, faces;
    vertex *vertex;
    face *face;
} mesh;

struct edge {
    unsigned short low, high, middle, used;
};

static unsigned short midpoint(mesh *m, struct edge *edges, int slots, unsigned short a, unsigned short b)
{
    unsigned short low = a < b ? a : b, high = a < b ? b : a;
    int slot = (low * 31 + high) % slots;
    while (edges[slot].used) {
        if (edges[slot].low == low && edges[slot].high == high)
            return edges[slot].middle;
        slot = (slot + 1) % slots;
    }
    vertex *new = &m->vertex[m->vertices];
    double length = 0.0;
    for (int i = 0; i < 3; i++) {
        new->position[i] = 0.5 * (m->vertex[a].position[i] + m->vertex[b].position[i]);
        length += new->position[i] * new->position[i];
    }
    for (int i = 0; i < 3; i++)
        new->position[i] *= 0.5 + 0.5 / sqrt(length);
    new->u = 0.5f * (m->vertex[a].u + m->vertex[b].u);
    new->v = 0.5f * (m->vertex[a].v + m->vertex[b].v);
    edges[slot] = (struct edge){low, high, (unsigned short)m->vertices, 1};
    return (unsigned short)m->vertices++;
}

static void subdivide(mesh *m)
{
    int slots = 4 * m->faces;
    struct edge *edges = calloc((size_t)slots, sizeof(struct edge));
    mesh fine = {m->vertices, 4 * m->faces, NULL, NULL};
    fine.vertex = malloc(sizeof(vertex) * (size_t)(m->vertices + 3 * m->faces));
    fine.face = malloc(sizeof(face) * (size_t)fine.faces);
    for (int i = 0; i < m->vertices; i++)
        fine.vertex[i] = m->vertex[i];
    for (int f = 0; f < m->faces; f++) {
        unsigned short *c = m->face[f].corner, d[3];
        for (int k = 0; k < 3; k++)
            d[k] = midpoint(&fine, edges, slots, c[k], c[(k + 1) % 3]);
        fine.face[4 * f] = (face){{c[0], d[0], d[2]}};
        fine.face[4 * f + 1] = (face){{c[1], d[1], d[0]}};
        fine.face[4 * f + 2] = (face){{c[2], d[2], d[1]}};
        fine.face[4 * f + 3] = (face){{d[0], d[1], d[2]}};
    }
    free(edges);
    free(m->vertex);
    free(m->face);
    *m = fine;
}

static double body_loss(const double *x, int levels)
{
    static const unsigned short corners[8][3] = {{0, 2, 4}, {2, 1, 4}, {1, 3, 4}, {3, 0, 4},
                                                 {2, 0, 5}, {1, 2, 5}, {3, 1, 5}, {0, 3, 5}};
    mesh m = {6, 8, calloc(6, sizeof(vertex)), malloc(8 * sizeof(face))};
    double volume = 0.0, area = 0.0, inertia = 0.0;
    for (int i = 0; i < 6; i++) {
        m.vertex[i].position[i / 2] = (i % 2 ? -1.0 : 1.0) * x[i / 2];
        for (int k = 0; k < 3; k++)
            m.vertex[i].position[k] += x[3 + 3 * i + k];
        m.vertex[i].u = (float)i / 6.0f;
    }
    memcpy(m.face, corners, sizeof(corners));
    for (int level = 0; level < levels; level++)
        subdivide(&m);
    for (int f = 0; f < m.faces; f++) {
        const double *a = m.vertex[m.face[f].corner[0]].position, *b = m.vertex[m.face[f].corner[1]].position,
                     *c = m.vertex[m.face[f].corner[2]].position;
        double n[3];
        for (int i = 0; i < 3; i++) {
            int j = (i + 1) % 3, k = (i + 2) % 3;
            n[i] = (b[j] - a[j]) * (c[k] - a[k]) - (b[k] - a[k]) * (c[j] - a[j]);
        }
        double tetrahedron = (a[0] * n[0] + a[1] * n[1] + a[2] * n[2]) / 6.0;
        area += 0.5 * sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
        volume += tetrahedron;
        for (int i = 0; i < 3; i++)
            inertia += tetrahedron *
                       (a[i] * a[i] + b[i] * b[i] + c[i] * c[i] + a[i] * b[i] + b[i] * c[i] + c[i] * a[i]);
    }
    free(m.vertex);
    free(m.face);
    return (volume - 2.0) * (volume - 2.0) + area + inertia / 50.0;
}

enum { SIZE = 21 };

static double point[SIZE];

static void setup(void)
{
    corpus_seed(173);
    corpus_fill(point, SIZE, -0.1, 0.1);
    point[0] += 1.0;
    point[1] += 0.8;
    point[2] += 1.2;
}

static double value(const double *x)
{
    return body_loss(x, CORPUS_SIZE(3, 1));
}

static double tangent(const double *x, const double *v)
{
    return __enzyme_fwddiff((void *)body_loss, enzyme_dup, x, v, enzyme_const, CORPUS_SIZE(3, 1));
}

static void gradient(const double *x, double *g)
{
    corpus_zero(g, SIZE);
    __enzyme_autodiff((void *)body_loss, enzyme_dup, x, g, enzyme_const, CORPUS_SIZE(3, 1));
}

static const struct corpus_problem problem = {
    .name = "mesh",
    .size = SIZE,
    .point = point,
    .setup = setup,
    .value = value,
    .tangent = tangent,
    .gradient = gradient,
};

CORPUS_MAIN(&problem)
