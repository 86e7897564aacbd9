// A least-squares loss whose caller decides at run time which of its inputs are constant: with enzyme_runtime_activity a shadow that is
// the argument itself says so, in one function compiled once. As a solver does it that fixes parameters between its phases.
#include "corpus.h"

enum { N = 6, SIZE = 2 * N };

extern int enzyme_runtime_activity;

static double point[SIZE];
static int fixed_second;

struct model {
    double *slope, *offset; // either may be constant
    int n;
};

static double loss(const double *slope, const double *offset, int n)
{
    double *residual = malloc(n * sizeof *residual), sum = 0.0;
    for (int i = 0; i < n; i++)
        residual[i] = slope[i] * i * 0.3 + offset[i] * offset[(i + 1) % n] - 0.5;
    for (int i = 0; i < n; i++)
        sum += residual[i] * residual[i];
    free(residual);
    return sum;
}

// The arguments are changed in place where they are not constant.
static double through_structure(struct model *m)
{
    for (int i = 0; i < m->n; i++)
        m->slope[i] *= 1.0 + 0.1 * m->slope[i];
    return loss(m->slope, m->offset, m->n);
}

static void setup(void)
{
    corpus_seed(70);
    corpus_fill(point, SIZE, 0.2, 1.2);
}

static double value(const double *x)
{
    double slope[N];
    for (int i = 0; i < N; i++)
        slope[i] = x[i] * (1.0 + 0.1 * x[i]);
    return loss(slope, x + N, N);
}

static double tangent(const double *x, const double *v)
{
    double slope[N], dslope[N], offset[N], doffset[N];
    corpus_copy(slope, x, N);
    corpus_copy(dslope, v, N);
    corpus_copy(offset, x + N, N);
    corpus_copy(doffset, v + N, N);
    struct model m = {slope, offset, N}, dm = {dslope, doffset, N};
    return __enzyme_fwddiff((void *)through_structure, enzyme_runtime_activity, enzyme_dup, &m, &dm);
}

static void gradient(const double *x, double *g)
{
    double slope[N], offset[N];
    corpus_copy(slope, x, N);
    corpus_copy(offset, x + N, N);
    corpus_zero(g, SIZE);
    struct model m = {slope, offset, N}, dm = {g, fixed_second ? offset : g + N, N};
    __enzyme_autodiff_void((void *)through_structure, enzyme_runtime_activity, enzyme_dup, &m, &dm);
    for (int i = 0; i < N; i++)
        if (offset[i] != x[N + i]) // nothing was added to what is constant
            g[0] = NAN;
}

static int extra(void)
{
    double all[SIZE], part[SIZE], worst = 0.0;
    fixed_second = 0;
    gradient(point, all);
    fixed_second = 1;
    gradient(point, part);
    fixed_second = 0;
    for (int i = 0; i < N; i++)
        worst = fmax(worst, fabs(all[i] - part[i]) + fabs(part[N + i]));
    int failed = corpus_check("activity", "constant through a structure", worst, 0.0);
    // Arguments themselves, in both modes.
    double slope[N], offset[N], g[N] = {0.0}, v[N] = {1.0}, wanted[N] = {0.0};
    corpus_copy(slope, point, N);
    corpus_copy(offset, point + N, N);
    __enzyme_autodiff_void((void *)loss, enzyme_runtime_activity, enzyme_dup, slope, slope, enzyme_dup, offset, g, enzyme_const, N);
    __enzyme_autodiff_void((void *)loss, enzyme_const, slope, enzyme_dup, offset, wanted, enzyme_const, N);
    worst = 0.0;
    for (int i = 0; i < N; i++)
        worst = fmax(worst, fabs(g[i] - wanted[i]) + fabs(slope[i] - point[i]));
    failed += corpus_check("activity", "constant argument, reverse", worst, 0.0);
    double slopes = __enzyme_fwddiff((void *)loss, enzyme_runtime_activity, enzyme_dup, slope, slope, enzyme_dup, offset, v, enzyme_const, N);
    return failed + corpus_check("activity", "constant argument, forward", fabs(slopes - wanted[0]), 1e-14);
}

static const struct corpus_problem problem = {
    .name = "constant_at_run_time",
    .size = SIZE,
    .point = point,
    .setup = setup,
    .value = value,
    .tangent = tangent,
    .gradient = gradient,
    .extra = extra,
};

CORPUS_MAIN(&problem)
