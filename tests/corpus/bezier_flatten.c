// corpus: valgrind
// Adaptive flattening of cubic Bezier curves by recursive subdivision (de Casteljau): arrays of points are passed
// down by pointer and halves are made on the stack; the polygon's points go to a growing buffer whose area and length
// are the loss.
// Source: Farin, "Curves and Surfaces for CAGD", section 4.6.
#include "corpus.h"

typedef double point2[2];

struct polygon {
    point2 *points;
    int count, room;
};

static void emit(struct polygon *polygon, const point2 p)
{
    if (polygon->count == polygon->room) {
        int room = polygon->room ? 2 * polygon->room : 8;
        point2 *larger = malloc(sizeof(point2) * (size_t)room);
        if (polygon->count)
            memcpy(larger, polygon->points, sizeof(point2) * (size_t)polygon->count);
        free(polygon->points);
        polygon->points = larger;
        polygon->room = room;
    }
    polygon->points[polygon->count][0] = p[0];
    polygon->points[polygon->count++][1] = p[1];
}

static double flatness(const point2 c[4])
{
    double worst = 0.0;
    for (int i = 0; i < 2; i++) {
        double u = 3.0 * c[1][i] - 2.0 * c[0][i] - c[3][i], v = 3.0 * c[2][i] - c[0][i] - 2.0 * c[3][i];
        worst += u * u > v * v ? u * u : v * v;
    }
    return worst;
}

static void flatten(struct polygon *polygon, const point2 c[4], double tolerance, int depth)
{
    if (depth == 0 || flatness(c) < 16.0 * tolerance * tolerance) {
        emit(polygon, c[3]);
        return;
    }
    point2 left[4], right[4], middle;
    for (int i = 0; i < 2; i++) {
        left[0][i] = c[0][i];
        left[1][i] = 0.5 * (c[0][i] + c[1][i]);
        middle[i] = 0.5 * (c[1][i] + c[2][i]);
        right[2][i] = 0.5 * (c[2][i] + c[3][i]);
        right[3][i] = c[3][i];
        left[2][i] = 0.5 * (left[1][i] + middle[i]);
        right[1][i] = 0.5 * (middle[i] + right[2][i]);
        left[3][i] = right[0][i] = 0.5 * (left[2][i] + right[1][i]);
    }
    flatten(polygon, (const point2 *)left, tolerance, depth - 1);
    flatten(polygon, (const point2 *)right, tolerance, depth - 1);
}

static double outline_loss(const double *x, int curves, double tolerance)
{
    struct polygon polygon = {NULL, 0, 0};
    double area = 0.0, length = 0.0;
    emit(&polygon, x);
    for (int k = 0; k < curves; k++) {
        point2 c[4];
        for (int j = 0; j < 4; j++)
            memcpy(c[j], x + 2 * ((3 * k + j) % (3 * curves)), sizeof(point2));
        flatten(&polygon, (const point2 *)c, tolerance, 12);
    }
    for (int i = 1; i < polygon.count; i++) {
        const double *a = polygon.points[i - 1], *b = polygon.points[i];
        area += 0.5 * (a[0] * b[1] - b[0] * a[1]);
        length += sqrt((b[0] - a[0]) * (b[0] - a[0]) + (b[1] - a[1]) * (b[1] - a[1]));
    }
    free(polygon.points);
    return area + length * length / 10.0;
}

enum { CURVES = CORPUS_SIZE(6, 2), SIZE = 6 * CURVES };

static double point[SIZE];

static void setup(void)
{
    corpus_seed(172);
    for (int i = 0; i < 3 * CURVES; i++) {
        double a = 6.2831853 * i / (3 * CURVES), r = 1.0 + corpus_uniform(-0.3, 0.3);
        point[2 * i] = r * cos(a);
        point[2 * i + 1] = r * sin(a);
    }
}

static double value(const double *x)
{
    return outline_loss(x, CURVES, CORPUS_SIZE(0.002, 0.05));
}

static double tangent(const double *x, const double *v)
{
    return __enzyme_fwddiff((void *)outline_loss, enzyme_dup, x, v, enzyme_const, CURVES, enzyme_const,
                            CORPUS_SIZE(0.002, 0.05));
}

static void gradient(const double *x, double *g)
{
    corpus_zero(g, SIZE);
    __enzyme_autodiff((void *)outline_loss, enzyme_dup, x, g, enzyme_const, CURVES, enzyme_const, CORPUS_SIZE(0.002,
                      0.05));
}

static const struct corpus_problem problem = {
    .name = "bezier_flatten",
    .size = SIZE,
    .point = point,
    .setup = setup,
    .value = value,
    .tangent = tangent,
    .gradient = gradient,
    .step = 0x1p-22, // the subdivision stays the same
    .fd_tolerance = 1e-5, // rounding over a small step
};

CORPUS_MAIN(&problem)
