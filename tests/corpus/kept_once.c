// What a reverse sweep need not keep of each iteration, and what only looks like it: numbers that a loop replaces now and then, powers
// that each iteration of an outer loop computes anew, states of which the arithmetic comes before the stores, rows of a
// triangle that stay, and the same where somebody asks in between, where the base changes, where arrays are one, where rows change.
#include "corpus.h"

enum { N = 8, SIZE = 4 * N, STEPS = 3 };

static double greatest(const double *x, int n)
{
    double best = x[0], sum = 0.0;
    for (int i = 1; i < n; i++)
        if (x[i] > best)
            best = x[i];
    for (int i = 0; i < n; i++)
        sum += exp(x[i] - 0.5 * best);
    return sum * best;
}

// Of each row the least; the next one begins with a part of it.
static double least_of_rows(const double *x, int rows, int n)
{
    double least = 5.0;
    for (int r = 0; r < rows; r++) {
        least *= 1.1;
        for (int i = 0; i < n; i++)
            least = x[r * n + i] < least ? x[r * n + i] : least;
    }
    return least * least;
}

// All that were greatest for a time are asked for.
static double records(const double *x, int n)
{
    double best = x[0], sum = 0.0;
    for (int i = 1; i < n; i++) {
        best = x[i] > best ? x[i] : best;
        sum += best * best;
    }
    return sum;
}

// What was greatest comes second.
static double second(const double *x, int n)
{
    double first = -1.0, next = -2.0;
    for (int i = 0; i < n; i++) {
        if (x[i] > first) {
            next = first;
            first = x[i];
        } else if (x[i] > next) {
            next = x[i];
        }
    }
    return first * next;
}

// Found until the loop is left.
static double until(const double *x, int n, double limit)
{
    double best = 0.1;
    for (int i = 0; i < n; i++) {
        if (best > limit)
            break;
        best = x[i] > best ? x[i] : best;
    }
    return best * best * best;
}

// Powers of a number, the same in each block of `length`; or of one that changes from block to block, if `change` is not 1.
static double powers(double *restrict y, const double *x, int n, int length, double change)
{
    double sum = 0.0, step = x[1];
    for (int start = 0; start < n; start += length) {
        double w = 1.0;
        for (int k = start; k < start + length / 2; k++) {
            double t = y[k + length / 2] * w;
            y[k + length / 2] = y[k] - t;
            y[k] += t * y[k];
            w = w * step;
        }
        step *= change;
    }
    for (int i = 0; i < n; i++)
        sum += y[i] * y[i];
    return sum;
}

static double same_powers(double *restrict y, const double *x, int n, int length)
{
    double sum = 0.0, step = x[2 * n];
    for (int start = 0; start < n; start += length) {
        double w = 1.0, v = 0.5;
        for (int k = start; k < start + length / 2; k++) {
            double t = y[k + length / 2] * w;
            y[k + length / 2] = y[k] - t * v;
            y[k] += t * y[k];
            double next = w * step - v * 0.25;
            v = w + v * step;
            w = next;
        }
    }
    for (int i = 0; i < n; i++)
        sum += y[i] * y[i];
    return sum;
}

// Gates of a cell; `input` may be either of the other arrays, or lie one element further.
static double gates(double *cell, double *hidden, const double *input, const double *weights, int n, int steps)
{
    double sum = 0.0;
    for (int t = 0; t < steps; t++)
        for (int j = 0; j < n; j++) {
            double forget = 1.0 / (1.0 + exp(-input[j] * weights[j]));
            double enter = 1.0 / (1.0 + exp(-hidden[j] * weights[n + j]));
            double leave = 1.0 / (1.0 + exp(-input[j] * weights[2 * n + j]));
            double change = tanh(hidden[j] * weights[3 * n + j]);
            cell[j] = cell[j] * forget + enter * change;
            hidden[j] = leave * tanh(cell[j]);
        }
    for (int j = 0; j < n; j++)
        sum += cell[j] * cell[j] + hidden[j];
    return sum;
}

// The second store is computed of what is read behind the first.
static double behind(double *cell, double *other, int n, int steps)
{
    for (int t = 0; t < steps; t++)
        for (int j = 1; j < n; j++) {
            double old = cell[j] * other[j];
            cell[j] = sin(old);
            double now = other[j] * other[j - 1];
            other[j] = now + cos(old) * now;
        }
    return cell[1] * other[1] + cell[n - 1] * other[n - 1];
}

// Rows of a triangle in memory of its own: those above stay; unless `back` changes them.
static double triangle(const double *a, const double *b, int n, int back)
{
    double half[N];
    double sum = 0.0;
    for (int i = 0; i < n; i++) {
        half[i] = b[i];
        for (int j = 0; j < i; j++)
            half[i] -= a[i + j] * half[j];
        half[i] /= 1.0 + a[i];
        sum += half[i] * half[i];
        if (back && i)
            half[i - 1] *= half[i];
    }
    return sum;
}

// Not known to the compiler.
static volatile int eight = N, steps = STEPS, no = 0, yes = 1;
static double point[SIZE];

static void setup(void)
{
    corpus_seed(173);
    corpus_fill(point, SIZE, 0.2, 0.9);
}

struct work {
    double y[N], z[N], cell[N + 1], hidden[N + 1], c[N + 1], d[N + 1], e[N + 1], f[N + 1];
};

static double all(const double *x, struct work *w)
{
    int n = eight, t = steps;
    for (int i = 0; i < N; i++) {
        w->y[i] = x[i];
        w->z[i] = x[i + N];
        w->cell[i] = w->c[i] = w->e[i] = x[i + 1];
        w->hidden[i] = w->d[i] = w->f[i] = x[i + N + 1];
    }
    w->cell[N] = w->hidden[N] = w->c[N] = w->d[N] = w->e[N] = w->f[N] = x[2];
    double sum = greatest(x, n) + least_of_rows(x, t, n) + records(x + 3, n) + second(x + 5, n) + until(x, n, 0.6);
    sum += same_powers(w->y, x, n, 4) + powers(w->z, x, n, 4, 0.75);
    sum += gates(w->cell, w->hidden, x + 2, x, n, t) + gates(w->c, w->d, w->c, x, n, t);
    sum += gates(w->e, w->f, w->f + 1, x, n, t) + behind(w->c, w->d, n, t) + behind(w->e, w->e, n, t);
    return sum + triangle(x, x + N, n, no) + triangle(x + 1, x + N, n, yes);
}

static double value(const double *x)
{
    struct work w;
    return all(x, &w);
}

static double tangent(const double *x, const double *v)
{
    struct work w, shadow;
    memset(&w, 0, sizeof w);
    memset(&shadow, 0, sizeof shadow);
    return __enzyme_fwddiff((void *)all, enzyme_dup, x, v, enzyme_dup, &w, &shadow);
}

// After the derivative memory holds what the primal leaves there.
static void gradient(const double *x, double *g)
{
    struct work w, shadow, expected;
    memset(&w, 0, sizeof w);
    memset(&expected, 0, sizeof expected);
    memset(&shadow, 0, sizeof shadow);
    corpus_zero(g, SIZE);
    __enzyme_autodiff((void *)all, enzyme_dup, x, g, enzyme_dup, &w, &shadow);
    all(x, &expected);
    if (memcmp(&w, &expected, sizeof w))
        g[0] = NAN;
}

enum { CELLS = 3 * (N + 2) };

// The gates by themselves, whose input lies at `at` in the same memory: the gradient against the tangent, and what is left there.
static double apart(int at)
{
    double start[CELLS], u[CELLS], v[CELLS], g[CELLS], left[CELLS], w[SIZE], dot = 0.0, slope;
    double weights[SIZE], weights_adjoint[SIZE];
    corpus_fill(start, CELLS, 0.1, 0.8);
    corpus_fill(w, SIZE, -1.0, 1.0);
    corpus_copy(weights, point, SIZE);
    corpus_copy(u, start, CELLS);
    corpus_fill(v, CELLS, -1.0, 1.0);
    corpus_copy(g, v, CELLS);
    slope = __enzyme_fwddiff((void *)gates, enzyme_dup, u, g, enzyme_dup, u + N + 2, g + N + 2, enzyme_dup, u + at,
                             g + at, enzyme_dup, weights, w, enzyme_const, eight, enzyme_const, steps);
    corpus_copy(left, u, CELLS);
    corpus_copy(u, start, CELLS);
    corpus_zero(g, CELLS);
    corpus_zero(weights_adjoint, SIZE);
    __enzyme_autodiff((void *)gates, enzyme_dup, u, g, enzyme_dup, u + N + 2, g + N + 2, enzyme_dup, u + at, g + at,
                      enzyme_dup, weights, weights_adjoint, enzyme_const, eight, enzyme_const, steps);
    for (int i = 0; i < CELLS; i++)
        dot += g[i] * v[i];
    for (int i = 0; i < SIZE; i++)
        dot += weights_adjoint[i] * w[i];
    double worst = corpus_relative(dot, slope, 1e-3);
    for (int i = 0; i < CELLS; i++)
        worst = fmax(worst, corpus_relative(u[i], left[i], 1e-3));
    return worst;
}

static int extra(void)
{
    double worst = 0.0;
    for (int at = 0; at < 2 * (N + 2); at++)
        worst = fmax(worst, apart(at));
    return corpus_check("kept_once", "gates whose input is part of their state", worst, 1e-12);
}

static const struct corpus_problem problem = {
    .name = "kept_once",
    .size = SIZE,
    .point = point,
    .setup = setup,
    .value = value,
    .tangent = tangent,
    .gradient = gradient,
    .extra = extra,
};

CORPUS_MAIN(&problem)
