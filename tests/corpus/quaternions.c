// Small structs by value everywhere: vectors and quaternions are passed and returned as C values. A body tumbles by a
// product of rotations, and a marker on it is compared with observations.
//
//   q_{k+1} = normalise(q_k exp(w_k dt / 2)),  loss = sum_k |q_k p q_k* - m_k|^2
//
// Source: Diebel, "Representing Attitude" (2006), sections 6.1 to 6.6.
#include "corpus.h"

typedef struct {
    double x, y, z;
} vec3;

typedef struct {
    double w;
    vec3 v;
} quat;

static vec3 vec(double x, double y, double z)
{
    vec3 v = {x, y, z};
    return v;
}

static vec3 add(vec3 a, vec3 b)
{
    return vec(a.x + b.x, a.y + b.y, a.z + b.z);
}

static vec3 scale(double s, vec3 a)
{
    return vec(s * a.x, s * a.y, s * a.z);
}

static double dot(vec3 a, vec3 b)
{
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

static vec3 cross(vec3 a, vec3 b)
{
    return vec(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x);
}

static quat multiply(quat a, quat b)
{
    quat q;
    q.w = a.w * b.w - dot(a.v, b.v);
    q.v = add(add(scale(a.w, b.v), scale(b.w, a.v)), cross(a.v, b.v));
    return q;
}

static quat exponential(vec3 half)
{
    double angle = sqrt(dot(half, half));
    double sinc = angle > 1e-6 ? sin(angle) / angle : 1.0 - angle * angle / 6.0;
    return (quat){cos(angle), scale(sinc, half)};
}

static quat normalise(quat q)
{
    double inverse = 1.0 / sqrt(q.w * q.w + dot(q.v, q.v));
    q.w *= inverse;
    q.v = scale(inverse, q.v);
    return q;
}

static vec3 rotate(quat q, vec3 p)
{
    vec3 t = scale(2.0, cross(q.v, p));
    return add(add(p, scale(q.w, t)), cross(q.v, t));
}

static double attitude_loss(const double *rates, const vec3 *marks, int count, double dt, vec3 marker)
{
    quat q = {1.0, {0.0, 0.0, 0.0}};
    double loss = 0.0;
    for (int k = 0; k < count; k++) {
        vec3 rate = {rates[3 * k], rates[3 * k + 1], rates[3 * k + 2]};
        q = normalise(multiply(q, exponential(scale(0.5 * dt, rate))));
        vec3 error = add(rotate(q, marker), scale(-1.0, marks[k]));
        loss += dot(error, error);
    }
    return loss;
}

enum { COUNT = CORPUS_SIZE(60, 4), SIZE = 3 * COUNT + 3 };

static double point[SIZE];
static vec3 marks[COUNT];

static void setup(void)
{
    corpus_seed(113);
    corpus_fill(point, SIZE, -2.0, 2.0);
    for (int k = 0; k < COUNT; k++)
        marks[k] = vec(corpus_uniform(-1.0, 1.0), corpus_uniform(-1.0, 1.0), corpus_uniform(-1.0, 1.0));
}

static double loss(const double *x)
{
    return attitude_loss(x, marks, COUNT, 0.1, vec(x[3 * COUNT], x[3 * COUNT + 1], x[3 * COUNT + 2]));
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

static void gradient_plain(const double *x, double *g)
{
    corpus_zero(g, SIZE);
    __enzyme_autodiff((void *)loss, x, g);
}

static const struct corpus_problem problem = {
    .name = "quaternions",
    .size = SIZE,
    .point = point,
    .setup = setup,
    .value = value,
    .tangent = tangent,
    .gradient = gradient,
    .variants = {{.name = "gradient without annotations", .gradient = gradient_plain}},
};

CORPUS_MAIN(&problem)
