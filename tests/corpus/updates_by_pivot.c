// Updates of an array by one of its own elements, a pivot, which the loop may pass by, hit in the middle, or leave behind:
// its adjoint is a sum over the loop, to which other sums of the same loop may belong.
//
//   elimination of a column (pivot before the row, factor used afterwards), the pivot anywhere in the range and rewritten
//   on the way, two pivots that may be one, steps of two and downwards, the pivot's place read again by the loop,
//   pivots used in some iterations only, sums over two loops, elements of a packed triangle
//
// loss = sum u^2 / 2 + what the sweeps return.
// Source: Golub, Van Loan, "Matrix Computations", section 3.2, for the elimination.
#include "corpus.h"

enum { ROWS = CORPUS_SIZE(9, 5), SIZE = ROWS * ROWS };

// The factor stands before the row; it is divided first and used by what follows the loop.
__attribute__((noinline)) static double eliminate(double *u, int n)
{
    double sum = 0.0;
    for (int k = 0; k < n; k++)
        for (int i = k + 1; i < n; i++) {
            u[i * n + k] /= 2.0 + u[k * n + k] * u[k * n + k];
            for (int j = k + 1; j < n; j++)
                u[i * n + j] -= u[i * n + k] * u[k * n + j];
            sum += u[i * n + k] * u[i * n + k];
        }
    return sum;
}

// The pivot may be any element: before, within or behind the range, from where on the others see its new value.
__attribute__((noinline)) static void through(double *u, int pivot, int from, int to)
{
    for (int i = from; i < to; i++)
        u[i] = 0.9 * u[i] + 0.4 * u[pivot] * u[pivot];
}

__attribute__((noinline)) static void downwards(double *u, int pivot, int from, int to)
{
    for (int i = to - 1; i >= from; i -= 2)
        u[i] -= 0.3 * u[pivot] * u[i + 1];
}

// Sums into two places, which may be the same, from elements that may be these places.
__attribute__((noinline)) static void two_sums(double *u, int first, int second, int from, int to)
{
    for (int i = from; i < to; i++) {
        u[first] += 0.1 * u[i] * u[second];
        u[second] -= 0.05 * u[i] * u[i];
    }
}

__attribute__((noinline)) static double in_some(double *u, int pivot, int from, int to)
{
    double sum = 0.0;
    for (int i = from; i < to; i++)
        if (u[i] > 0.0) {
            u[i] *= 1.0 - 0.1 * u[pivot];
            sum += u[pivot] * u[i];
        }
    return sum;
}

// The pivot is the same in both loops; rows that overlap.
__attribute__((noinline)) static void rows(double *u, int pivot, int step, int count, int length)
{
    for (int i = 0; i < count; i++)
        for (int j = 0; j < length; j++)
            u[i * step + j] += 0.05 * u[pivot] * u[i * step + length];
}

// Again and again from one pivot, which the outer loop is known not to reach, but not the inner one.
__attribute__((noinline)) static void repeatedly(double *u, double scale, int rows, int times)
{
    for (int i = 0; i < (rows & 3); i++)
        for (int k = 1; k < times; k++)
            u[i + 3] -= 0.1 * (sin(scale) * u[7]);
}

// The packed lower triangle of n rows.
__attribute__((noinline)) static void triangle(double *u, int n)
{
    for (int j = 0; j < n; j++) {
        double *row = u + j * (j + 1) / 2;
        for (int i = 0; i < j; i++)
            for (int k = 0; k < i; k++)
                row[i] -= 0.1 * row[k] * u[i * (i + 1) / 2 + k];
        for (int k = 0; k < j; k++)
            row[j] += 0.1 * row[k] * row[k];
    }
}

static double run(double *u, int n)
{
    int count = n * n;
    double loss = eliminate(u, n);
    for (int pivot = 0; pivot < count; pivot += count / 3)
        through(u, pivot, 2 + pivot % 4, count - 1);
    for (int pivot = 0; pivot < count; pivot += count / 4)
        downwards(u, pivot, pivot % 3, count - 1 - pivot % 2);
    for (int first = 0; first < 6; first++)
        two_sums(u, first, 3 + first % 2, 2, 5 + first % 3);
    for (int pivot = 0; pivot < count; pivot += 5)
        loss += in_some(u, pivot, 1, count - pivot % 3);
    for (int step = 0; step < 4; step++)
        rows(u, 2 * step + 1, step, 4, 5);
    for (int k = 0; k < 4; k++)
        repeatedly(u + k, u[1], k + 1, 5 + k);
    triangle(u, n);
    for (int i = 0; i < count; i++)
        loss += 0.5 * u[i] * u[i];
    return loss;
}

static double point[SIZE], work[SIZE];

static void setup(void)
{
    corpus_seed(83);
    corpus_fill(point, SIZE, -0.8, 0.8);
}

static double value(const double *x)
{
    corpus_copy(work, x, SIZE);
    return run(work, ROWS);
}

static double tangent(const double *x, const double *v)
{
    double shadow[SIZE];
    corpus_copy(work, x, SIZE);
    corpus_copy(shadow, v, SIZE);
    return __enzyme_fwddiff((void *)run, enzyme_dup, work, shadow, enzyme_const, ROWS);
}

static void gradient(const double *x, double *g)
{
    corpus_copy(work, x, SIZE);
    corpus_zero(g, SIZE);
    __enzyme_autodiff((void *)run, enzyme_dup, work, g, enzyme_const, ROWS);
}

static const struct corpus_problem problem = {
    .name = "updates_by_pivot",
    .size = SIZE,
    .point = point,
    .setup = setup,
    .value = value,
    .tangent = tangent,
    .gradient = gradient,
};

CORPUS_MAIN(&problem)
