// Adaptive integration of a stiff reaction whose steps are functions of their own, as in code that is not inlined: what
// each call keeps is small (a tape, stages, rows of loops with few iterations) or large (a history, rows of loops with
// many), with sizes around the largest that derivatives cut from their arena (1,024 bytes), at any alignment, recursive
// and by a split derivative.
// Source: Hairer, Wanner, "Solving Ordinary Differential Equations II" (1996), IV.1 (Robertson's reaction), with rates
// that do not make it that stiff.
//
// corpus: valgrind
#include "corpus.h"

extern void *__enzyme_augmentfwd(void *function, ...);
extern void __enzyme_reverse(void *function, ...);
extern int enzyme_nofree;

enum { SIZE = 4, SPECIES = 3, HISTORY = 520, STAGES = 2 };

__attribute__((noinline)) static void rates(const double *k, const double *y, double *dy)
{
    double first = k[0] * y[0], second = k[1] * y[1] * y[1], third = k[2] * y[1] * y[2];
    dy[0] = third - first;
    dy[1] = first - second - third;
    dy[2] = second;
}

// Heun's method; the stages are vectors of a processor's width.
__attribute__((noinline)) static double step(const double *k, const double *y, double h, double *next)
{
    _Alignas(64) double stages[STAGES][8];
    double middle[SPECIES], error = 0.0;
    rates(k, y, stages[0]);
    for (int i = 0; i < SPECIES; i++)
        middle[i] = y[i] + h * stages[0][i];
    rates(k, middle, stages[1]);
    for (int i = 0; i < SPECIES; i++) {
        next[i] = y[i] + 0.5 * h * (stages[0][i] + stages[1][i]);
        error = fmax(error, fabs(next[i] - middle[i]));
    }
    return error;
}

// Halves the step until it is small enough, and goes through both halves.
__attribute__((noinline)) static int advance(const double *k, double *y, double h, double tolerance, int depth)
{
    double next[SPECIES];
    if (step(k, y, h, next) > tolerance && depth > 0)
        return advance(k, y, 0.5 * h, tolerance, depth - 1) + advance(k, y, 0.5 * h, tolerance, depth - 1);
    for (int i = 0; i < SPECIES; i++)
        y[i] = next[i];
    return 1;
}

// The mean of what the last times say, with weights that follow from it: `count` of them, of a history that is large.
__attribute__((noinline)) static double smoothed(const double *of, int count)
{
    double history[HISTORY], mean = 0.0, weight = 0.0;
    for (int i = 0; i < count; i++)
        history[i] = of[i] * of[i] + 1.0;
    for (int i = 0; i < count; i++) {
        double w = exp(-mean) / history[i];
        mean += w * (history[i] - mean);
        weight += w;
    }
    return mean / weight;
}

// A loop whose number of iterations nobody knows before.
__attribute__((noinline)) static double root(double a, double tolerance)
{
    double r = 1.0;
    while (fabs(r * r - a) > tolerance)
        r = 0.5 * (r + a / r);
    return r;
}

__attribute__((noinline)) static double integrate(const double *x, double *record)
{
    double y[SPECIES] = {1.0, 0.0, 0.0}, k[SPECIES], sum = 0.0;
    for (int i = 0; i < SPECIES; i++)
        k[i] = root(x[i], 1e-13);
    int steps = 0;
    for (int t = 0; t < HISTORY; t++) {
        steps += advance(k, y, 0.02, t % 7 ? 1e-3 : 2e-5, 4);
        record[t] = y[1] + x[3] * y[2];
        if (t % 40 == 3)
            sum += smoothed(record, t % 80 == 3 ? 4 : t + 1);
    }
    // Rows of 127, 128 and 129 numbers: 1,024 bytes, and eight less and more.
    return sum + smoothed(record, 127) - smoothed(record, 128) + smoothed(record, 129) + smoothed(record, HISTORY) +
           steps * 1e-3;
}

static double integrated(const double *x)
{
    double record[HISTORY];
    return integrate(x, record);
}

static double point[SIZE] = {0.6, 2.2, 1.7, 0.4};

static double value(const double *x)
{
    return integrated(x);
}

static double tangent(const double *x, const double *v)
{
    return __enzyme_fwddiff((void *)integrated, enzyme_dup, x, v);
}

static void gradient(const double *x, double *g)
{
    corpus_zero(g, SIZE);
    __enzyme_autodiff((void *)integrated, enzyme_dup, x, g);
}

// Over a tangent: the second derivative along a direction, by both ways.
static double tangent_of_all(const double *x, const double *v)
{
    return __enzyme_fwddiff((void *)integrated, enzyme_dup, x, v);
}

static int of_second_order(void)
{
    double moved[SIZE], back[SIZE], v[SIZE] = {1.0, 0.5, -0.3, 0.8}, unit[SIZE], forward[SIZE], reverse[SIZE];
    double worst = 0.0, difference = 0.0, scale = 0.0;
    corpus_zero(unit, SIZE);
    corpus_zero(reverse, SIZE);
    corpus_zero(forward, SIZE);
    __enzyme_fwddiff_void((void *)gradient, enzyme_dup, point, v, enzyme_dupnoneed, unit, forward);
    __enzyme_autodiff((void *)tangent_of_all, enzyme_dup, point, reverse, enzyme_const, v);
    for (int i = 0; i < SIZE; i++) {
        double h = 1e-5, ahead[SIZE], behind[SIZE];
        for (int j = 0; j < SIZE; j++) {
            moved[j] = point[j] + h * v[j];
            back[j] = point[j] - h * v[j];
        }
        gradient(moved, ahead);
        gradient(back, behind);
        scale = fmax(scale, fabs(forward[i]));
        worst = fmax(worst, fabs(forward[i] - reverse[i]));
        difference = fmax(difference, fabs(forward[i] - (ahead[i] - behind[i]) / (2.0 * h)));
    }
    // Reverse over forward is exact but for rounding; differences of gradients leave an error of h^2, and rounding over
    // h.
    return corpus_check("pieces_of_tape", "two ways", worst / scale, 1e-10) +
           corpus_check("pieces_of_tape", "differences", difference / scale, 1e-6);
}

static void gradient_in_two_calls(const double *x, double *g)
{
    double record[HISTORY], adjoint[HISTORY];
    corpus_zero(g, SIZE);
    corpus_zero(adjoint, HISTORY);
    void *tape = __enzyme_augmentfwd((void *)integrate, enzyme_dup, x, g, enzyme_dup, record, adjoint);
    __enzyme_reverse((void *)integrate, enzyme_dup, x, g, enzyme_dup, record, adjoint, 1.0, tape);
}

static void gradient_from_one_tape(const double *x, double *g)
{
    double record[HISTORY], adjoint[HISTORY], unused[SIZE];
    corpus_zero(g, SIZE);
    corpus_zero(unused, SIZE);
    corpus_zero(adjoint, HISTORY);
    void *tape = __enzyme_augmentfwd((void *)integrate, enzyme_dup, x, unused, enzyme_dup, record, adjoint);
    __enzyme_reverse((void *)integrate, enzyme_nofree, enzyme_dup, x, unused, enzyme_dup, record, adjoint, 2.0, tape);
    __enzyme_reverse((void *)integrate, enzyme_dup, x, g, enzyme_dup, record, adjoint, 1.0, tape);
}

static const struct corpus_problem problem = {
    .name = "pieces_of_tape",
    .size = SIZE,
    .point = point,
    .value = value,
    .tangent = tangent,
    .gradient = gradient,
    .variants = {{.name = "two calls", .gradient = gradient_in_two_calls},
                 {.name = "one tape twice", .gradient = gradient_from_one_tape}},
    .coordinates = CORPUS_ALL,
    .extra = of_second_order,
};

CORPUS_MAIN(&problem)
