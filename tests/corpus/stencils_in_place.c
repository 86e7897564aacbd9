// Sweeps over one array that read neighbours and write in place, each in another order: what one iteration reads, an
// earlier one has read, or written since.
//
//   old neighbours kept in scalars (heat), new left neighbours (Gauss-Seidel), a sweep from right to left, writes
//   behind and ahead of what is read, two delays, neighbours within structures, sweeps that end early, sweeps of length
//   0, 1, 2, ..., coefficients that may be the cells
//
// loss = sum u^2 / 2 + sum over sweeps of their weights.
// Source: Briggs, Henson, McCormick, "A Multigrid Tutorial", chapter 2, for the smoothers.
#include "corpus.h"

enum { N = CORPUS_SIZE(40, 12), STEPS = CORPUS_SIZE(6, 2), SIZE = 2 * N };

struct cell {
    double level, flow;
};

// u_i += (u_{i-1} - 2 u_i + u_{i+1}) (1 + u_i^2) / 8, all old values.
__attribute__((noinline)) static void explicit_sweep(double *u, int from, int to)
{
    double left = u[from - 1];
    for (int i = from; i < to; i++) {
        double here = u[i];
        u[i] = here + 0.125 * (left - 2.0 * here + u[i + 1]) * (1.0 + here * here);
        left = here;
    }
}

// u_i = tanh((u_{i-1} + u_i u_{i+1}) / 2): the left neighbour is new.
__attribute__((noinline)) static void gauss_seidel(double *u, int from, int to)
{
    for (int i = from; i < to; i++)
        u[i] = tanh(0.5 * (u[i - 1] + u[i] * u[i + 1]));
}

// From right to left; what is written was read four and three steps before, or not at all.
__attribute__((noinline)) static void backwards(double *u, int from, int to)
{
    for (int i = to - 1; i >= from; i--)
        u[i + 2] = 0.5 * u[i + 1] + sin(u[i] * u[i - 1]) + 0.25 * u[i + 2];
}

// Written behind: u_{i-2} from u_i, u_{i-1} and u_{i-2}; then ahead: u_{i+1} before it is read.
__attribute__((noinline)) static double behind_and_ahead(double *u, int from, int to)
{
    double sum = 0.0;
    for (int i = from + 1; i < to; i++)
        u[i - 2] = u[i] * u[i - 1] + 0.5 * u[i - 2] * u[i - 2];
    for (int i = from; i < to; i++) {
        u[i + 1] = 0.5 * u[i + 1] + 0.25 * u[i] * u[i - 1];
        sum += u[i + 1] * u[i] * u[i - 1];
    }
    return sum;
}

// Three old values in scalars, of which the program forgets none; some elements are not written.
__attribute__((noinline)) static double delays(double *u, int from, int to)
{
    double first = u[from - 1], second = u[from], third = 0.3, sum = 0.0;
    for (int i = from; i < to; i++) {
        double now = u[i + 1];
        if (now > 0.0)
            u[i + 1] = now - 0.1 * first * second;
        sum += first * second * third * now;
        third = first;
        first = second;
        second = now;
    }
    return sum;
}

// Neighbours within structures: flows are written between the levels that are read.
__attribute__((noinline)) static void flows(struct cell *cells, int from, int to)
{
    for (int i = from; i < to; i++)
        cells[i].flow = 0.5 * cells[i].flow + cells[i].level * (cells[i + 1].level - cells[i - 1].level);
    for (int i = from; i < to; i++)
        cells[i].level = 0.9 * cells[i].level + 0.1 * cells[i].level * (cells[i - 1].flow - cells[i + 1].flow);
}

// Ends where the level is reached, before the neighbour is read.
__attribute__((noinline)) static double until(double *u, int from, int to, double level)
{
    double sum = 0.0;
    for (int i = from; i < to; i++) {
        sum += u[i] * u[i];
        if (sum > level)
            break;
        u[i] += 0.1 * u[i + 1] * u[i - 1];
    }
    return sum;
}

// Coefficients for each cell of a grid, which no sweep changes unless they are cells themselves.
__attribute__((noinline)) static void grid(double *u, const double *coefficient, int rows, int columns, int sweeps)
{
    for (int s = 0; s < sweeps; s++)
        for (int i = 1; i < rows; i++)
            for (int j = 0; j < columns; j++) {
                int k = i * columns + j;
                u[k] += 0.2 * coefficient[k] * u[k] * u[k - columns];
            }
}

static double run(double *u, int n, int steps)
{
    double loss = 0.0;
    for (int t = 0; t < steps; t++) {
        // Of all lengths, none among them.
        int from = 2 + t % 3, to = t % 2 ? from + t / 2 : n - 3;
        explicit_sweep(u, from, to);
        gauss_seidel(u, from, to);
        backwards(u, from, to);
        loss += behind_and_ahead(u, from, to);
        loss += delays(u, from, to);
        flows((struct cell *)(u + n), from, t % 2 ? to : n / 2 - 1);
        loss += until(u, from, to, 2.0);
        // Coefficients of their own, the cells themselves, and cells one row on.
        grid(u, u + n, n / 3, 2 + t % 2, t);
        grid(u, u, n / 3, 2 + t % 2, 2);
        grid(u, u + 3, n / 3 - 1, 2 + t % 2, t % 3);
    }
    for (int i = 0; i < 2 * n; i++)
        loss += 0.5 * u[i] * u[i];
    return loss;
}

static double point[SIZE], work[SIZE];

static void setup(void)
{
    corpus_seed(81);
    corpus_fill(point, SIZE, -0.8, 0.8);
}

static double value(const double *x)
{
    corpus_copy(work, x, SIZE);
    return run(work, N, STEPS);
}

static double tangent(const double *x, const double *v)
{
    double shadow[SIZE];
    corpus_copy(work, x, SIZE);
    corpus_copy(shadow, v, SIZE);
    return __enzyme_fwddiff((void *)run, enzyme_dup, work, shadow, enzyme_const, N, enzyme_const, STEPS);
}

static void gradient(const double *x, double *g)
{
    corpus_copy(work, x, SIZE);
    corpus_zero(g, SIZE);
    __enzyme_autodiff((void *)run, enzyme_dup, work, g, enzyme_const, N, enzyme_const, STEPS);
}

static const struct corpus_problem problem = {
    .name = "stencils_in_place",
    .size = SIZE,
    .point = point,
    .setup = setup,
    .value = value,
    .tangent = tangent,
    .gradient = gradient,
};

CORPUS_MAIN(&problem)
