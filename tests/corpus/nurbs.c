// A rational B-spline curve by de Boor's algorithm in homogeneous coordinates on a stack copy of the active control
// points, with span search by bisection; its length by chords and its bending. Active: control points, weights and
// inner knots.
// Source: Piegl, Tiller, "The NURBS Book", algorithms A2.1 and A4.1.
#include "corpus.h"

enum { DEGREE = 3 };

typedef struct {
    double x, y, w;
} homogeneous;

typedef struct {
    int controls;
    double knots[24];
    homogeneous points[20];
} nurbs;

static int span(const nurbs *c, double t)
{
    int low = DEGREE, high = c->controls;
    while (high - low > 1) {
        int middle = (low + high) >> 1;
        if (t < c->knots[middle])
            high = middle;
        else
            low = middle;
    }
    return low;
}

static homogeneous evaluate(const nurbs *c, double t)
{
    homogeneous d[DEGREE + 1];
    int k = span(c, t);
    for (int j = 0; j <= DEGREE; j++)
        d[j] = c->points[k - DEGREE + j];
    for (int r = 1; r <= DEGREE; r++)
        for (int j = DEGREE; j >= r; j--) {
            double left = c->knots[k - DEGREE + j], right = c->knots[k + 1 + j - r];
            double a = (t - left) / (right - left);
            d[j].x = (1.0 - a) * d[j - 1].x + a * d[j].x;
            d[j].y = (1.0 - a) * d[j - 1].y + a * d[j].y;
            d[j].w = (1.0 - a) * d[j - 1].w + a * d[j].w;
        }
    return d[DEGREE];
}

static double curve_loss(const double *x, int controls, int samples)
{
    nurbs curve = {.controls = controls};
    for (int i = 0; i < controls; i++) {
        double w = x[3 * i + 2];
        curve.points[i] = (homogeneous){w * x[3 * i], w * x[3 * i + 1], w};
    }
    for (int i = 0; i < controls + DEGREE + 1; i++)
        curve.knots[i] = i <= DEGREE ? 0.0 : i >= controls ? 1.0 : x[3 * controls + i - DEGREE - 1];
    double length = 0.0, bending = 0.0, px = 0.0, py = 0.0, dx = 0.0, dy = 0.0;
    for (int s = 0; s <= samples; s++) {
        homogeneous h = evaluate(&curve, (s + 0.01) / (samples + 0.02));
        double qx = h.x / h.w, qy = h.y / h.w;
        if (s > 0) {
            double ex = qx - px, ey = qy - py;
            length += hypot(ex, ey);
            if (s > 1)
                bending += (ex - dx) * (ex - dx) + (ey - dy) * (ey - dy);
            dx = ex;
            dy = ey;
        }
        px = qx;
        py = qy;
    }
    return length + 50.0 * bending;
}

enum { CONTROLS = CORPUS_SIZE(12, 6), SAMPLES = CORPUS_SIZE(80, 5), SIZE = 3 * CONTROLS + CONTROLS - DEGREE - 1 };

static double point[SIZE];

static void setup(void)
{
    corpus_seed(171);
    for (int i = 0; i < CONTROLS; i++) {
        point[3 * i] = i + corpus_uniform(-0.2, 0.2);
        point[3 * i + 1] = corpus_uniform(-1.0, 1.0);
        point[3 * i + 2] = corpus_uniform(0.6, 1.6);
    }
    for (int i = 0; i < CONTROLS - DEGREE - 1; i++)
        point[3 * CONTROLS + i] = (i + 1.0) / (CONTROLS - DEGREE) + corpus_uniform(-0.01, 0.01);
}

static double value(const double *x)
{
    return curve_loss(x, CONTROLS, SAMPLES);
}

static double tangent(const double *x, const double *v)
{
    return __enzyme_fwddiff((void *)curve_loss, enzyme_dup, x, v, enzyme_const, CONTROLS, enzyme_const, SAMPLES);
}

static void gradient(const double *x, double *g)
{
    corpus_zero(g, SIZE);
    __enzyme_autodiff((void *)curve_loss, enzyme_dup, x, g, enzyme_const, CONTROLS, enzyme_const, SAMPLES);
}

static const struct corpus_problem problem = {
    .name = "nurbs",
    .size = SIZE,
    .point = point,
    .setup = setup,
    .value = value,
    .tangent = tangent,
    .gradient = gradient,
    .step = 0x1p-14, // no knot crosses a sample
    .fd_tolerance = 1e-6, // rounding over a small step
};

CORPUS_MAIN(&problem)
