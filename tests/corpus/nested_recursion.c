// Recursion whose depth is decided by recursion: Ackermann's and Hofstadter's functions on integers with an active
// weight carried along, Takeuchi's function on active doubles, and a Stern-Brocot search for a ratio.
// Source: Knuth, "Textbook examples of recursion" (1991).
#include "corpus.h"

static int ackermann(int m, int n, double *weight, const double *p)
{
    *weight += p[m] / (1.0 + *weight * *weight);
    if (m == 0)
        return n + 1;
    if (n == 0)
        return ackermann(m - 1, 1, weight, p);
    return ackermann(m - 1, ackermann(m, n - 1, weight, p), weight, p);
}

static double takeuchi(double x, double y, double z, double step)
{
    if (x <= y)
        return y * (1.0 + 0.01 * z * z);
    double a = takeuchi(x - step, y, z, step), b = takeuchi(y - step, z, x, step), c = takeuchi(z - step, x, y, step);
    return takeuchi(a, b, c, step);
}

static double hofstadter(int n, double a, double b)
{
    if (n < 2)
        return a + n * b;
    int left = n / 2, right = n - left - 1;
    double l = hofstadter(left, a * 0.9, b), r = hofstadter(right, a, sin(l) * b);
    return l * r + a;
}

static double stern_brocot(double target, int p, int q, int r, int s, int depth)
{
    double middle = (double)(p + r) / (q + s), gap = target - middle;
    if (depth == 0 || fabs(gap) < 1e-3)
        return gap * gap * 100.0;
    return gap > 0.0 ? 0.9 * stern_brocot(target, p + r, q + s, r, s, depth - 1) + 0.01 * gap
                     : 0.9 * stern_brocot(target, p, q, p + r, q + s, depth - 1) - 0.01 * gap;
}

static double recursion_loss(const double *x, int m, int n)
{
    double weight = x[0];
    int count = ackermann(m, n, &weight, x);
    return weight + 0.01 * count * x[1] + takeuchi(x[4], x[5], x[6], 1.0) + hofstadter(20, x[2], x[3]) +
           stern_brocot(x[7], 0, 1, 1, 0, 12);
}

enum { SIZE = 8 };

static double point[SIZE] = {0.3, 0.5, 0.8, 0.4, 4.3, 2.6, 0.7, 1.3777};

static void setup(void)
{
}

static double value(const double *x)
{
    return recursion_loss(x, 2, CORPUS_SIZE(3, 1));
}

static double tangent(const double *x, const double *v)
{
    return __enzyme_fwddiff((void *)recursion_loss, enzyme_dup, x, v, enzyme_const, 2, enzyme_const, CORPUS_SIZE(3, 1));
}

static void gradient(const double *x, double *g)
{
    corpus_zero(g, SIZE);
    __enzyme_autodiff((void *)recursion_loss, enzyme_dup, x, g, enzyme_const, 2, enzyme_const, CORPUS_SIZE(3, 1));
}

static const struct corpus_problem problem = {
    .name = "nested_recursion",
    .size = SIZE,
    .point = point,
    .setup = setup,
    .value = value,
    .tangent = tangent,
    .gradient = gradient,
    .coordinates = CORPUS_ALL,
    .step = 0x1p-16, // the same calls are made
    .fd_tolerance = 1e-6, // rounding over a small step
};

CORPUS_MAIN(&problem)
