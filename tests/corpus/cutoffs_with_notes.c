// Distances of which some are not wanted, where something else is done before that is known: counters, a call, a line
// that would be logged. The root of zero, the distance of a body to itself, has an infinite slope which nobody asks
// for. Source: Allen, Tildesley, "Computer Simulation of Liquids", section 5.2 (cutoffs).
#include "corpus.h"

enum { N = 5 };

static int nearby, far_away, level;
static volatile int visited;

__attribute__((noinline)) static void note(int i, int j)
{
    if (i > 1000)
        visited += j;
}

static double counted(const double *x)
{
    double sum = 0.0;
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            double d = x[i] - x[j], r = sqrt(d * d);
            if (r < 1e-3) {
                nearby++;
                continue;
            }
            visited++;
            if (r > 3.0) {
                far_away++;
                continue;
            }
            sum += exp(-r) / r;
        }
    return sum;
}

static double noted(const double *x)
{
    double sum = 0.0;
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            double d = x[i] - x[j], r = sqrt(d * d), length = log(fabs(d));
            note(i, j);
            if (r < 1e-3 || r > 3.0)
                continue;
            note(j, i);
            sum += r * length;
        }
    return sum;
}

static double logged(const double *x)
{
    double sum = 0.0;
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            double d = x[i] - x[j], r = pow(d * d, 0.3);
            if (level > 2)
                printf("distance %g\n", r);
            if (level > 3)
                printf("of %d and %d\n", i, j);
            if (r < 1e-3)
                continue;
            sum += exp(-r) / r;
        }
    return sum;
}

static double energy(const double *x)
{
    return counted(x) + noted(x) + logged(x);
}

static double point[N] = {0.1, 0.9, 2.3, 2.6, 4.0};

static double value(const double *x)
{
    return energy(x);
}

static double tangent(const double *x, const double *v)
{
    return __enzyme_fwddiff((void *)energy, enzyme_dup, x, v);
}

static void gradient(const double *x, double *g)
{
    corpus_zero(g, N);
    __enzyme_autodiff((void *)energy, enzyme_dup, x, g);
}

static const struct corpus_problem problem = {
    .name = "cutoffs_with_notes",
    .size = N,
    .point = point,
    .value = value,
    .tangent = tangent,
    .gradient = gradient,
    .coordinates = CORPUS_ALL,
};

CORPUS_MAIN(&problem)
