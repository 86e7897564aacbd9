// Large structs by value: 4x4 matrices passed and returned as C values (hidden pointers in the calling convention),
// and a small float struct beside them (registers). A chain of joints is posed, the hand's position is compared with
// a target.
//
//   T = prod_k Rz(a_k) Tx(l_k) Rx(b_k),  loss = |T e4 - target|^2 + trace(T)^2 / 10
//
// Source: Denavit, Hartenberg, J. Applied Mechanics 22 (1955).
#include "corpus.h"

typedef struct {
    double m[4][4];
} mat4;

typedef struct {
    float twist, offset;
} joint;

static mat4 identity(void)
{
    mat4 r = {{{0}}};
    for (int i = 0; i < 4; i++)
        r.m[i][i] = 1.0;
    return r;
}

static mat4 multiply(mat4 a, mat4 b)
{
    mat4 r;
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++) {
            r.m[i][j] = 0.0;
            for (int k = 0; k < 4; k++)
                r.m[i][j] += a.m[i][k] * b.m[k][j];
        }
    return r;
}

static mat4 turn_z(double angle)
{
    mat4 r = identity();
    r.m[0][0] = r.m[1][1] = cos(angle);
    r.m[0][1] = -(r.m[1][0] = sin(angle));
    return r;
}

static mat4 turn_x(double angle)
{
    mat4 r = identity();
    r.m[1][1] = r.m[2][2] = cos(angle);
    r.m[1][2] = -(r.m[2][1] = sin(angle));
    return r;
}

static mat4 move(mat4 a, double x, double z)
{
    a.m[0][3] += a.m[0][0] * x + a.m[0][2] * z;
    a.m[1][3] += a.m[1][0] * x + a.m[1][2] * z;
    a.m[2][3] += a.m[2][0] * x + a.m[2][2] * z;
    return a;
}

static mat4 link_pose(mat4 base, double angle, double length, joint j)
{
    mat4 pose = multiply(base, turn_z(angle));
    pose = move(pose, length, j.offset);
    return multiply(pose, turn_x(j.twist));
}

static double pose_loss(const double *angles, const double *lengths, const joint *joints, int count)
{
    static const double target[3] = {0.5, -0.25, 1.0};
    mat4 pose = identity();
    for (int k = 0; k < count; k++)
        pose = link_pose(pose, angles[k], lengths[k], joints[k]);
    double loss = 0.0, trace = 0.0;
    for (int i = 0; i < 3; i++) {
        double error = pose.m[i][3] - target[i];
        loss += error * error;
        trace += pose.m[i][i];
    }
    return loss + 0.1 * trace * trace;
}

enum { COUNT = CORPUS_SIZE(20, 3), SIZE = 2 * COUNT };

static double point[SIZE];
static joint joints[COUNT];

static void setup(void)
{
    corpus_seed(114);
    corpus_fill(point, COUNT, -1.5, 1.5);
    corpus_fill(point + COUNT, COUNT, 0.2, 0.6);
    for (int k = 0; k < COUNT; k++)
        joints[k] = (joint){0.25f * (float)(k % 5) - 0.5f, 0.125f * (float)(k % 3)};
}

static double value(const double *x)
{
    return pose_loss(x, x + COUNT, joints, COUNT);
}

static double tangent(const double *x, const double *v)
{
    return __enzyme_fwddiff((void *)pose_loss, enzyme_dup, x, v, enzyme_dup, x + COUNT, v + COUNT, enzyme_const, joints,
                            enzyme_const, COUNT);
}

static void gradient(const double *x, double *g)
{
    corpus_zero(g, SIZE);
    __enzyme_autodiff((void *)pose_loss, enzyme_dup, x, g, enzyme_dup, x + COUNT, g + COUNT, enzyme_const, joints,
                      enzyme_const, COUNT);
}

static const struct corpus_problem problem = {
    .name = "matrices_by_value",
    .size = SIZE,
    .point = point,
    .setup = setup,
    .value = value,
    .tangent = tangent,
    .gradient = gradient,
};

CORPUS_MAIN(&problem)
