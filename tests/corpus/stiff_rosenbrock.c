// Robertson's stiff reaction by the two-stage Rosenbrock method ROS2: a linear system with the Jacobian is solved in
// every step, step sizes grow geometrically. Active: the three rates (scaled logarithms) and the initial state.
// Source: Verwer et al., SIAM J. Sci. Comput. 20 (1999), equation (5).
#include "corpus.h"

typedef struct {
    double v[3];
} state;

static state rates(const double *k, state y)
{
    double r1 = k[0] * y.v[0], r2 = k[1] * y.v[1] * y.v[1], r3 = k[2] * y.v[1] * y.v[2];
    return (state){{r3 - r1, r1 - r2 - r3, r2}};
}

static void jacobian(const double *k, state y, double j[3][3])
{
    double rows[3][3] = {
        {-k[0], k[2] * y.v[2], k[2] * y.v[1]},
        {k[0], -2.0 * k[1] * y.v[1] - k[2] * y.v[2], -k[2] * y.v[1]},
        {0.0, 2.0 * k[1] * y.v[1], 0.0},
    };
    memcpy(j, rows, sizeof(rows));
}

static state solve3(double m[3][3], state b)
{
    for (int k = 0; k < 3; k++)
        for (int i = k + 1; i < 3; i++) {
            double factor = m[i][k] / m[k][k];
            for (int j = k; j < 3; j++)
                m[i][j] -= factor * m[k][j];
            b.v[i] -= factor * b.v[k];
        }
    for (int i = 2; i >= 0; i--) {
        for (int j = i + 1; j < 3; j++)
            b.v[i] -= m[i][j] * b.v[j];
        b.v[i] /= m[i][i];
    }
    return b;
}

static state ros2_step(const double *k, state y, double h)
{
    const double gamma = 1.0 + 1.0 / sqrt(2.0);
    double j[3][3], m[3][3];
    jacobian(k, y, j);
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 3; c++)
            m[r][c] = (r == c) - gamma * h * j[r][c];
    double copy[3][3];
    memcpy(copy, m, sizeof(m));
    state k1 = solve3(copy, rates(k, y)), middle = y;
    for (int i = 0; i < 3; i++)
        middle.v[i] += h * k1.v[i];
    state f = rates(k, middle);
    for (int i = 0; i < 3; i++)
        f.v[i] -= 2.0 * k1.v[i];
    state k2 = solve3(m, f);
    for (int i = 0; i < 3; i++)
        y.v[i] += 1.5 * h * k1.v[i] + 0.5 * h * k2.v[i];
    return y;
}

static double kinetics_loss(const double *x, int steps, double growth)
{
    double k[3], h = 1e-4, loss = 0.0;
    state y = {{x[3], x[4], x[5]}};
    for (int i = 0; i < 3; i++)
        k[i] = exp(x[i]);
    for (int t = 0; t < steps; t++) {
        y = ros2_step(k, y, h);
        h *= growth;
        double error = y.v[0] - 1.0 / (1.0 + 0.01 * t);
        loss += error * error + 100.0 * y.v[1];
    }
    return loss / steps;
}

enum { SIZE = 6 };

static double point[SIZE] = {-3.2, 17.0, 9.2, 0.98, 1e-5, 0.02};

static void setup(void)
{
}

static double value(const double *x)
{
    return kinetics_loss(x, CORPUS_SIZE(120, 5), 1.12);
}

static double tangent(const double *x, const double *v)
{
    return __enzyme_fwddiff((void *)kinetics_loss, enzyme_dup, x, v, enzyme_const, CORPUS_SIZE(120, 5), enzyme_const,
                            1.12);
}

static void gradient(const double *x, double *g)
{
    corpus_zero(g, SIZE);
    __enzyme_autodiff((void *)kinetics_loss, enzyme_dup, x, g, enzyme_const, CORPUS_SIZE(120, 5), enzyme_const, 1.12);
}

static const struct corpus_problem problem = {
    .name = "stiff_rosenbrock",
    .size = SIZE,
    .point = point,
    .setup = setup,
    .value = value,
    .tangent = tangent,
    .gradient = gradient,
    .step = 0x1p-14, // the concentration of the intermediate is 1e-5
    .fd_tolerance = 1e-5, // likewise
    .dot_tolerance = 1e-8, // stiff: large terms cancel
};

CORPUS_MAIN(&problem)
