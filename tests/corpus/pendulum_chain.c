// A chain of n pendulums in minimal coordinates: the mass matrix M(q) is assembled and solved by Cholesky in each
// stage of Runge-Kutta's method; symmetric loops with triangular bounds. Loss = kinetic + potential energy at the end
// and path of the last bob. Active: angles, speeds, masses, lengths.
#include "corpus.h"

enum { LINKS = CORPUS_SIZE(4, 2), SIZE = 4 * LINKS };

struct chain {
    double mass[LINKS], length[LINKS];
    double below[LINKS]; // mass from link i on
};

static void accelerations(const struct chain *c, const double *q, const double *w, double *a)
{
    double m[LINKS][LINKS];
    for (int i = 0; i < LINKS; i++) {
        a[i] = -c->below[i] * 9.81 * c->length[i] * sin(q[i]);
        for (int j = 0; j < LINKS; j++) {
            double coupling = c->below[i > j ? i : j] * c->length[i] * c->length[j];
            if (j <= i)
                m[i][j] = coupling * cos(q[i] - q[j]);
            a[i] -= coupling * sin(q[i] - q[j]) * w[j] * w[j];
        }
    }
    for (int j = 0; j < LINKS; j++) {
        for (int k = 0; k < j; k++)
            m[j][j] -= m[j][k] * m[j][k];
        m[j][j] = sqrt(m[j][j]);
        for (int i = j + 1; i < LINKS; i++) {
            for (int k = 0; k < j; k++)
                m[i][j] -= m[i][k] * m[j][k];
            m[i][j] /= m[j][j];
        }
    }
    for (int i = 0; i < LINKS; i++) {
        for (int k = 0; k < i; k++)
            a[i] -= m[i][k] * a[k];
        a[i] /= m[i][i];
    }
    for (int i = LINKS; i-- > 0;) {
        for (int k = i + 1; k < LINKS; k++)
            a[i] -= m[k][i] * a[k];
        a[i] /= m[i][i];
    }
}

static void rk4(const struct chain *c, double *q, double *w, double h)
{
    static const double at[4] = {0.0, 0.5, 0.5, 1.0}, weight[4] = {1 / 6.0, 1 / 3.0, 1 / 3.0, 1 / 6.0};
    double dq[5][LINKS] = {{0}}, dw[5][LINKS] = {{0}}, sq[LINKS], sw[LINKS];
    for (int s = 0; s < 4; s++) {
        for (int i = 0; i < LINKS; i++) {
            sq[i] = q[i] + h * at[s] * dq[s][i];
            sw[i] = w[i] + h * at[s] * dw[s][i];
        }
        memcpy(dq[s + 1], sw, sizeof(sw));
        accelerations(c, sq, sw, dw[s + 1]);
    }
    for (int i = 0; i < LINKS; i++)
        for (int s = 0; s < 4; s++) {
            q[i] += h * weight[s] * dq[s + 1][i];
            w[i] += h * weight[s] * dw[s + 1][i];
        }
}

static double swing_loss(const double *x, int steps, double h)
{
    struct chain c;
    double q[LINKS], w[LINKS], path = 0.0, px = 0.0, py = 0.0;
    memcpy(q, x, sizeof(q));
    memcpy(w, x + LINKS, sizeof(w));
    memcpy(c.mass, x + 2 * LINKS, sizeof(c.mass));
    memcpy(c.length, x + 3 * LINKS, sizeof(c.length));
    c.below[LINKS - 1] = c.mass[LINKS - 1];
    for (int i = LINKS - 2; i >= 0; i--)
        c.below[i] = c.below[i + 1] + c.mass[i];
    for (int t = 0; t < steps; t++) {
        double ex = 0.0, ey = 0.0;
        rk4(&c, q, w, h);
        for (int i = 0; i < LINKS; i++) {
            ex += c.length[i] * sin(q[i]);
            ey -= c.length[i] * cos(q[i]);
        }
        if (t > 0)
            path += sqrt((ex - px) * (ex - px) + (ey - py) * (ey - py));
        px = ex;
        py = ey;
    }
    return path + px * px + py;
}

static double point[SIZE];

static void setup(void)
{
    corpus_seed(176);
    corpus_fill(point, LINKS, 0.3, 1.0);
    corpus_fill(point + LINKS, LINKS, -0.5, 0.5);
    corpus_fill(point + 2 * LINKS, 2 * LINKS, 0.5, 1.0);
}

static double value(const double *x)
{
    return swing_loss(x, CORPUS_SIZE(80, 3), 0.01);
}

static double tangent(const double *x, const double *v)
{
    return __enzyme_fwddiff((void *)swing_loss, enzyme_dup, x, v, enzyme_const, CORPUS_SIZE(80, 3), enzyme_const, 0.01);
}

static void gradient(const double *x, double *g)
{
    corpus_zero(g, SIZE);
    __enzyme_autodiff((void *)swing_loss, enzyme_dup, x, g, enzyme_const, CORPUS_SIZE(80, 3), enzyme_const, 0.01);
}

static const struct corpus_problem problem = {
    .name = "pendulum_chain",
    .size = SIZE,
    .point = point,
    .setup = setup,
    .value = value,
    .tangent = tangent,
    .gradient = gradient,
};

CORPUS_MAIN(&problem)
