// A planar truss by finite elements: bar stiffness with direction cosines, assembly into a skyline (a pointer to each
// column's diagonal), LDL^T in the skyline, member forces, weight and a smooth penalty on stress. Active: node
// positions and cross sections. Source: Bathe, "Finite Element Procedures", section 8.2.3.
#include "corpus.h"

struct bar {
    int a, b;
    float modulus;
    double area, force;
};

struct skyline {
    int size;
    double *storage;
    double **column; // column[j] + i is the entry (i, j), top[j] <= i <= j
    int *top;
};

static struct skyline skyline_new(const struct bar *bars, int count, int size)
{
    struct skyline s = {size, NULL, malloc(sizeof(double *) * (size_t)size), malloc(sizeof(int) * (size_t)size)};
    size_t total = 0, used = 0;
    for (int j = 0; j < size; j++)
        s.top[j] = j;
    for (int k = 0; k < count; k++) {
        int low = 2 * (bars[k].a < bars[k].b ? bars[k].a : bars[k].b);
        int high = 2 * (bars[k].a < bars[k].b ? bars[k].b : bars[k].a);
        for (int d = 0; d < 2; d++)
            if (high + d < size && low < s.top[high + d])
                s.top[high + d] = low;
        if (low + 1 < size && s.top[low + 1] > low)
            s.top[low + 1] = low;
    }
    for (int j = 0; j < size; j++)
        total += (size_t)(j - s.top[j] + 1);
    s.storage = calloc(total, sizeof(double));
    for (int j = 0; j < size; j++) {
        s.column[j] = s.storage + used - s.top[j];
        used += (size_t)(j - s.top[j] + 1);
    }
    return s;
}

static void skyline_solve(struct skyline *s, double *b)
{
    int n = s->size;
    for (int j = 0; j < n; j++) {
        for (int i = s->top[j] + 1; i < j; i++) {
            int from = s->top[i] > s->top[j] ? s->top[i] : s->top[j];
            for (int k = from; k < i; k++)
                s->column[j][i] -= s->column[i][k] * s->column[j][k];
        }
        for (int k = s->top[j]; k < j; k++) {
            double u = s->column[j][k], l = u / s->column[k][k];
            s->column[j][k] = l;
            s->column[j][j] -= u * l;
            b[j] -= l * b[k];
        }
    }
    for (int j = n - 1; j >= 0; j--) {
        b[j] /= s->column[j][j];
    }
    for (int j = n - 1; j >= 0; j--)
        for (int k = s->top[j]; k < j; k++)
            b[k] -= s->column[j][k] * b[j];
}

static double truss_loss(const double *nodes, int free_nodes, struct bar *bars, int count, const double *load)
{
    int size = 2 * free_nodes;
    struct skyline s = skyline_new(bars, count, size);
    double *u = malloc(sizeof(double) * (size_t)size), loss = 0.0;
    memcpy(u, load, sizeof(double) * (size_t)size);
    for (int k = 0; k < count; k++) {
        const double *p = nodes + 2 * bars[k].a, *q = nodes + 2 * bars[k].b;
        double d[2] = {q[0] - p[0], q[1] - p[1]}, length = sqrt(d[0] * d[0] + d[1] * d[1]);
        double stiffness = bars[k].modulus * bars[k].area / (length * length * length);
        int dof[4] = {2 * bars[k].a, 2 * bars[k].a + 1, 2 * bars[k].b, 2 * bars[k].b + 1};
        for (int i = 0; i < 4; i++)
            for (int j = 0; j < 4; j++)
                if (dof[i] <= dof[j] && dof[j] < size)
                    s.column[dof[j]][dof[i]] += ((i < 2) == (j < 2) ? 1.0 : -1.0) * stiffness * d[i & 1] * d[j & 1];
    }
    skyline_solve(&s, u);
    for (int k = 0; k < count; k++) {
        const double *p = nodes + 2 * bars[k].a, *q = nodes + 2 * bars[k].b;
        double d[2] = {q[0] - p[0], q[1] - p[1]}, length = sqrt(d[0] * d[0] + d[1] * d[1]), stretch = 0.0;
        for (int i = 0; i < 2; i++) {
            double ub = bars[k].b < free_nodes ? u[2 * bars[k].b + i] : 0.0;
            double ua = bars[k].a < free_nodes ? u[2 * bars[k].a + i] : 0.0;
            stretch += d[i] / length * (ub - ua);
        }
        bars[k].force = bars[k].modulus * bars[k].area * stretch / length;
        double stress = bars[k].force / bars[k].area;
        loss += length * bars[k].area + 0.01 * stress * stress;
    }
    free(u);
    free(s.storage);
    free(s.column);
    free(s.top);
    return loss;
}

enum { PANELS = CORPUS_SIZE(6, 2), FREE = 2 * PANELS, ALL = FREE + 2, BARS = 5 * PANELS, SIZE = 2 * ALL + BARS };

static double point[SIZE], load[2 * FREE];
static struct bar params[BARS], shadow[BARS];
static int ends[BARS][2];

static void setup(void)
{
    corpus_seed(183);
    int k = 0;
    for (int i = 0; i <= PANELS; i++)
        for (int side = 0; side < 2; side++) {
            point[2 * (2 * i + side)] = PANELS - i + corpus_uniform(-0.1, 0.1);
            point[2 * (2 * i + side) + 1] = side + corpus_uniform(-0.1, 0.1);
        }
    for (int i = 0; i < PANELS; i++) {
        static const int pattern[5][2] = {{0, 1}, {0, 2}, {1, 3}, {0, 3}, {1, 2}};
        for (int b = 0; b < 5; b++, k++)
            for (int e = 0; e < 2; e++)
                ends[k][e] = 2 * i + pattern[b][e];
    }
    corpus_fill(point + 2 * ALL, BARS, 0.5, 1.5);
    corpus_fill(load, 2 * FREE, -1.0, 0.0);
}

static void pack(struct bar *to, const double *x)
{
    for (int k = 0; k < BARS; k++)
        to[k] = (struct bar){ends[k][0], ends[k][1], to == params ? 10.0f : 0.0f, x[2 * ALL + k], 0.0};
}

static void unpack(const struct bar *from, double *g)
{
    for (int k = 0; k < BARS; k++)
        g[2 * ALL + k] = from[k].area;
}

static double value(const double *x)
{
    pack(params, x);
    return truss_loss(x, FREE, params, BARS, load);
}

static double tangent(const double *x, const double *v)
{
    pack(params, x);
    pack(shadow, v);
    return __enzyme_fwddiff((void *)truss_loss, enzyme_dup, x, v, enzyme_const, FREE, enzyme_dup, params, shadow,
                            enzyme_const, BARS, enzyme_const, load);
}

static void gradient(const double *x, double *g)
{
    pack(params, x);
    memset(shadow, 0, sizeof(shadow));
    corpus_zero(g, SIZE);
    __enzyme_autodiff((void *)truss_loss, enzyme_dup, x, g, enzyme_const, FREE, enzyme_dup, params, shadow,
                      enzyme_const, BARS, enzyme_const, load);
    unpack(shadow, g);
}

static const struct corpus_problem problem = {
    .name = "truss",
    .size = SIZE,
    .point = point,
    .setup = setup,
    .value = value,
    .tangent = tangent,
    .gradient = gradient,
};

CORPUS_MAIN(&problem)
