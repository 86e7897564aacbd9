// What is computed for a decision alone, and then not wanted: distances behind a cutoff, norms of nothing, logarithms that are out
// of range. Nothing flows back from there, whatever the slopes are: particles that lie upon each other have a gradient.
//
//   a screened potential between pairs within a radius, the unit vector of a vector, an entropy, a chain of decisions, a sum that is
//   left early
//
// loss = their sum. Beside points where all slopes are finite: points where those of what is not wanted are infinite.
// Source: Allen, Tildesley, "Computer Simulation of Liquids", section 5.2 (cutoffs).
//
// corpus: coverage O0
#include "corpus.h"

enum { BODIES = CORPUS_SIZE(12, 5), COUNT = 3 * BODIES + 4 };

__attribute__((noinline)) static double screened(const double (*p)[3], double *field, int n, double near, double far)
{
    double energy = 0.0;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            double x = p[i][0] - p[j][0], y = p[i][1] - p[j][1], z = p[i][2] - p[j][2];
            double r = sqrt(x * x + y * y + z * z);
            if (r < near || r > far)
                continue;
            double strength = exp(-r) / r;
            field[i] += strength * x;
            energy += strength * field[j];
        }
    return energy;
}

__attribute__((noinline)) static double along(const double *v, int n)
{
    double square = 0.0;
    for (int i = 0; i < n; i++)
        square += v[i] * v[i];
    double length = sqrt(square);
    if (length < 1e-12)
        return 0.0;
    return (v[0] + 2.0 * v[n - 1]) / length;
}

__attribute__((noinline)) static double entropy(const double *p, int n)
{
    double sum = 0.0;
    for (int i = 0; i < n; i++) {
        double bits = log(p[i]);
        if (bits > -20.0)
            sum -= p[i] * bits;
    }
    return sum;
}

__attribute__((noinline)) static double decided(double x, double y)
{
    double root = sqrt(x), sum;
    if (root == 0.0)
        sum = y;
    else if (y / root > 2.0)
        sum = root * y;
    else
        sum = root + y;
    return sum * y;
}

__attribute__((noinline)) static double left_early(const double *v, int n)
{
    double product = 1.0;
    for (int i = 0; i < n; i++) {
        double power = pow(v[i], 0.3);
        if (power < 1e-3)
            return product;
        product *= 1.0 + power;
    }
    return product * product;
}

static double point[COUNT], field[BODIES], field_adjoint[BODIES];

static void setup(void)
{
    corpus_seed(52);
    corpus_fill(point, COUNT, 0.2, 1.4);
}

static double value(const double *x)
{
    corpus_zero(field, BODIES);
    double energy = screened((const double(*)[3])x, field, BODIES, 1e-9, 0.9);
    return energy + along(x, BODIES) + entropy(x, BODIES) + decided(x[COUNT - 2], x[COUNT - 1]) + left_early(x, 4);
}

static double tangent(const double *x, const double *v)
{
    corpus_zero(field, BODIES);
    corpus_zero(field_adjoint, BODIES);
    return __enzyme_fwddiff((void *)screened, enzyme_dup, x, v, enzyme_dup, field, field_adjoint, enzyme_const, BODIES,
                            enzyme_const, 1e-9, enzyme_const, 0.9) +
           __enzyme_fwddiff((void *)along, enzyme_dup, x, v, enzyme_const, BODIES) +
           __enzyme_fwddiff((void *)entropy, enzyme_dup, x, v, enzyme_const, BODIES) +
           __enzyme_fwddiff((void *)decided, enzyme_dup, x[COUNT - 2], v[COUNT - 2], enzyme_dup, x[COUNT - 1],
                            v[COUNT - 1]) +
           __enzyme_fwddiff((void *)left_early, enzyme_dup, x, v, enzyme_const, 4);
}

static void gradient(const double *x, double *g)
{
    corpus_zero(g, COUNT);
    corpus_zero(field, BODIES);
    corpus_zero(field_adjoint, BODIES);
    __enzyme_autodiff((void *)screened, enzyme_dup, x, g, enzyme_dup, field, field_adjoint, enzyme_const, BODIES,
                      enzyme_const, 1e-9, enzyme_const, 0.9);
    __enzyme_autodiff((void *)along, enzyme_dup, x, g, enzyme_const, BODIES);
    __enzyme_autodiff((void *)entropy, enzyme_dup, x, g, enzyme_const, BODIES);
    g[COUNT - 2] += __enzyme_autodiff((void *)decided, enzyme_out, x[COUNT - 2], enzyme_const, x[COUNT - 1]);
    g[COUNT - 1] += __enzyme_autodiff((void *)decided, enzyme_const, x[COUNT - 2], enzyme_out, x[COUNT - 1]);
    __enzyme_autodiff((void *)left_early, enzyme_dup, x, g, enzyme_const, 4);
}

// Bodies at one place, no vector, no probability, no root, no power: what is not wanted has no part in any number.
static int extra(void)
{
    double still[COUNT], g[COUNT], zero[COUNT] = {0.0}, wrong = 0.0;
    corpus_copy(still, point, COUNT);
    for (int k = 0; k < 3; k++)
        still[k] = still[3 + k];
    corpus_zero(g, COUNT);
    corpus_zero(field, BODIES);
    corpus_zero(field_adjoint, BODIES);
    __enzyme_autodiff((void *)screened, enzyme_dup, still, g, enzyme_dup, field, field_adjoint, enzyme_const, BODIES,
                      enzyme_const, 1e-9, enzyme_const, 0.9);
    for (int k = 0; k < 3; k++)
        wrong = fmax(wrong, isfinite(g[k]) ? fabs(g[k] - g[3 + k]) : 1.0);
    int failed = corpus_check("cutoffs", "two bodies at one place", wrong, 1e-12);

    corpus_zero(g, COUNT);
    __enzyme_autodiff((void *)along, enzyme_dup, zero, g, enzyme_const, BODIES);
    __enzyme_autodiff((void *)entropy, enzyme_dup, zero, g, enzyme_const, BODIES);
    __enzyme_autodiff((void *)left_early, enzyme_dup, zero, g, enzyme_const, 4);
    wrong = 0.0;
    for (int i = 0; i < COUNT; i++)
        wrong = g[i] == 0.0 ? wrong : 1.0;
    failed |= corpus_check("cutoffs", "nothing", wrong, 0.0);

    double root = __enzyme_autodiff((void *)decided, enzyme_out, 0.0, enzyme_const, 3.0);
    double slope = __enzyme_autodiff((void *)decided, enzyme_const, 0.0, enzyme_out, 3.0);
    return failed | corpus_check("cutoffs", "no root", fabs(root) + fabs(slope - 6.0), 0.0);
}

static const struct corpus_problem problem = {
    .name = "cutoffs",
    .size = COUNT,
    .point = point,
    .setup = setup,
    .value = value,
    .tangent = tangent,
    .gradient = gradient,
    .extra = extra,
};

CORPUS_MAIN(&problem)
