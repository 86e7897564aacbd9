// Inverse dynamics of a branched robot by the recursive Newton-Euler algorithm in the plane-of-motion form: links
// hold a parent index, joint type and inertia; forward and backward passes over the tree; torques compared along a
// trajectory. Active: link parameters and trajectory coefficients. Source: Featherstone, "Rigid Body Dynamics
// Algorithms", chapter 5.
#include "corpus.h"

enum joint { REVOLUTE = 1, PRISMATIC };

struct link {
    signed char parent;
    enum joint joint;
    double length, mass, centre, inertia;
};

struct motion {
    double angle, rate, alpha;
    double p[2], v[2], a[2];
};

struct wrench {
    double f[2], moment;
};

enum { LINKS = 6, PER = 4, TERMS = 3, SIZE = PER * LINKS + TERMS * LINKS };

static void forward(const struct link *links, const double *q, const double *qd, const double *qdd, struct motion *m)
{
    for (int i = 0; i < LINKS; i++) {
        const struct link *link = &links[i];
        struct motion base = {0};
        if (link->parent < 0)
            base.a[1] = 9.81;
        else
            base = m[link->parent];
        double reach = link->parent < 0 ? 0.0 : links[link->parent].length;
        double c = cos(base.angle), s = sin(base.angle), along[2] = {c, s}, across[2] = {-s, c};
        m[i] = base;
        if (link->joint == REVOLUTE) {
            m[i].angle += q[i];
            m[i].rate += qd[i];
            m[i].alpha += qdd[i];
        } else {
            reach += q[i];
        }
        for (int k = 0; k < 2; k++) {
            m[i].p[k] += reach * along[k];
            m[i].v[k] += reach * base.rate * across[k];
            m[i].a[k] += reach * (base.alpha * across[k] - base.rate * base.rate * along[k]);
            if (link->joint == PRISMATIC) {
                m[i].v[k] += qd[i] * along[k];
                m[i].a[k] += qdd[i] * along[k] + 2.0 * qd[i] * base.rate * across[k];
            }
        }
    }
}

static void backward(const struct link *links, const struct motion *m, double *torque)
{
    struct wrench w[LINKS];
    memset(w, 0, sizeof(w));
    for (int i = LINKS - 1; i >= 0; i--) {
        double c = cos(m[i].angle), s = sin(m[i].angle), r[2] = {links[i].centre * c, links[i].centre * s}, f[2];
        for (int k = 0; k < 2; k++) {
            double across = k ? c : -s, along = k ? s : c;
            double a = m[i].a[k] + links[i].centre * (m[i].alpha * across - m[i].rate * m[i].rate * along);
            f[k] = links[i].mass * a;
            w[i].f[k] += f[k];
        }
        w[i].moment += links[i].inertia * m[i].alpha + r[0] * f[1] - r[1] * f[0];
        int parent = links[i].parent;
        double base = parent < 0 ? 0.0 : m[parent].angle;
        torque[i] = links[i].joint == REVOLUTE ? w[i].moment : w[i].f[0] * cos(base) + w[i].f[1] * sin(base);
        if (parent >= 0) {
            double d[2] = {m[i].p[0] - m[parent].p[0], m[i].p[1] - m[parent].p[1]};
            w[parent].f[0] += w[i].f[0];
            w[parent].f[1] += w[i].f[1];
            w[parent].moment += w[i].moment + d[0] * w[i].f[1] - d[1] * w[i].f[0];
        }
    }
}

static double torque_loss(const struct link *links, const double *coefficients, int samples)
{
    double loss = 0.0;
    for (int t = 0; t < samples; t++) {
        double time = 0.1 * t, q[LINKS], qd[LINKS], qdd[LINKS], torque[LINKS];
        struct motion m[LINKS];
        for (int i = 0; i < LINKS; i++) {
            const double *c = coefficients + TERMS * i;
            q[i] = c[0] + c[1] * sin(time) + c[2] * cos(2.0 * time);
            qd[i] = c[1] * cos(time) - 2.0 * c[2] * sin(2.0 * time);
            qdd[i] = -c[1] * sin(time) - 4.0 * c[2] * cos(2.0 * time);
        }
        forward(links, q, qd, qdd, m);
        backward(links, m, torque);
        for (int i = 0; i < LINKS; i++)
            loss += torque[i] * torque[i] * 0.01 + sin(torque[i]) * 0.1;
    }
    return loss / samples;
}

static double point[SIZE];
static struct link params[LINKS], shadow[LINKS];

static void setup(void)
{
    corpus_seed(187);
    corpus_fill(point, PER * LINKS, 0.2, 0.6);
    corpus_fill(point + PER * LINKS, TERMS * LINKS, -0.8, 0.8);
}

static void pack(struct link *to, const double *x)
{
    static const signed char parents[LINKS] = {-1, 0, 1, 1, 3, 2};
    for (int i = 0; i < LINKS; i++, x += PER)
        to[i] = (struct link){parents[i], i == 4 ? PRISMATIC : REVOLUTE, x[0], x[1], x[2], x[3]};
}

static void unpack(const struct link *from, double *g)
{
    for (int i = 0; i < LINKS; i++, g += PER) {
        g[0] = from[i].length;
        g[1] = from[i].mass;
        g[2] = from[i].centre;
        g[3] = from[i].inertia;
    }
}

static double value(const double *x)
{
    pack(params, x);
    return torque_loss(params, x + PER * LINKS, CORPUS_SIZE(40, 3));
}

static double tangent(const double *x, const double *v)
{
    pack(params, x);
    pack(shadow, v);
    return __enzyme_fwddiff((void *)torque_loss, enzyme_dup, params, shadow, enzyme_dup, x + PER * LINKS,
                            v + PER * LINKS, enzyme_const, CORPUS_SIZE(40, 3));
}

static void gradient(const double *x, double *g)
{
    pack(params, x);
    memset(shadow, 0, sizeof(shadow));
    corpus_zero(g, SIZE);
    __enzyme_autodiff((void *)torque_loss, enzyme_dup, params, shadow, enzyme_dup, x + PER * LINKS, g + PER * LINKS,
                      enzyme_const, CORPUS_SIZE(40, 3));
    unpack(shadow, g);
}

static const struct corpus_problem problem = {
    .name = "arm_dynamics",
    .size = SIZE,
    .point = point,
    .setup = setup,
    .value = value,
    .tangent = tangent,
    .gradient = gradient,
};

CORPUS_MAIN(&problem)
