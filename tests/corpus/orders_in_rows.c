// corpus: native
// Rows of a matrix that are gone through in ways whose order matters, beside such in which it does not: running
// products, shifts within a row, the last one that is stored, rows that are empty or short, what the last element was,
// where the largest is.
//
//   loss = sum of weighted squares of the matrix, and of what each row leaves behind
//
// Source: Allen, Kennedy, "Optimizing Compilers for Modern Architectures", chapter 2, for the kinds of dependences.
#include "corpus.h"

enum { ROWS = CORPUS_SIZE(9, 3), COLUMNS = CORPUS_SIZE(37, 9), SIZE = ROWS * COLUMNS };

static double scaled(double *restrict a, const double *restrict w, double *restrict left, int rows, int columns)
{
    for (int i = 0; i < rows; i++) {
        double by = 0.5 + 0.1 * left[i];
        for (int j = 0; j < columns; j++)
            a[i * columns + j] = a[i * columns + j] * w[j] / by;
    }
    return a[0];
}

static double running(double *restrict a, const double *restrict w, double *restrict left, int rows, int columns)
{
    for (int i = 0; i < rows; i++) {
        double product = 1.0;
        for (int j = 0; j < columns; j++) {
            product = 0.9 * product + 0.1 * w[j] * a[i * columns + j];
            a[i * columns + j] = product * product;
        }
        left[i] = product;
    }
    return left[0];
}

static double shifted(double *restrict a, const double *restrict w, double *restrict left, int rows, int columns)
{
    for (int i = 0; i < rows; i++) {
        for (int j = 1; j < columns; j++)
            a[i * columns + j] += 0.3 * w[j] * a[i * columns + j - 1];
        for (int j = 0; j + 1 < columns; j++)
            a[i * columns + j] = 0.5 * a[i * columns + j] + 0.2 * w[j] * a[i * columns + j + 1];
        for (int j = 3; j < columns; j++)
            a[i * columns + j - 3] -= 0.1 * a[i * columns + j];
    }
    return left[0];
}

static double stored_last(double *restrict a, const double *restrict w, double *left, int rows, int columns)
{
    double last = 0.0;
    for (int i = 0; i < rows; i++) {
        for (int j = 0; j < columns; j++) {
            last = sin(a[i * columns + j]) * w[j];
            left[i] = last + 0.1 * left[i];
            a[i * columns + j] += 0.2 * last;
        }
        left[i] += last * last;
    }
    return last;
}

static double triangle(double *restrict a, const double *restrict w, double *restrict left, int rows, int columns)
{
    double sum = 0.0;
    for (int i = 0; i < rows; i++) {
        int largest = 0;
        for (int j = 0; j < columns * i / rows; j++) {
            left[i] += a[i * columns + j] * w[j];
            a[i * columns + j] *= w[i];
            if (j * 7 % 11 >= largest * 7 % 11)
                largest = j;
        }
        sum += a[i * columns + largest] * w[largest];
    }
    return sum;
}

static double next_row(double *a, const double *w, double *left, int rows, int columns)
{
    for (int i = 0; i + 1 < rows; i++) {
        double *here = a + i * columns, *below = here + columns;
        for (int j = 0; j < columns; j++)
            below[j] += 0.4 * w[j] * here[j];
        for (int j = 0; j < columns; j++)
            here[j] = 0.5 * w[columns - 1 - j] * below[j];
        for (int j = 0; j < 5; j++)
            left[i] += here[j];
    }
    return left[1];
}

static double whole(const double *x)
{
    double a[SIZE], w[COLUMNS], left[ROWS], loss = 0.0;
    for (int j = 0; j < COLUMNS; j++)
        w[j] = 0.8 + 0.3 * x[SIZE - 1 - j];
    for (int i = 0; i < ROWS; i++)
        left[i] = x[i * COLUMNS];
    corpus_copy(a, x, SIZE);
    loss += scaled(a, w, left, ROWS, COLUMNS);
    loss += running(a, w, left, ROWS, COLUMNS);
    loss += shifted(a, w, left, ROWS, COLUMNS);
    loss += stored_last(a, w, left, ROWS, COLUMNS);
    loss += triangle(a, w, left, ROWS, COLUMNS);
    loss += next_row(a, w, left, ROWS, COLUMNS);
    for (int k = 0; k < SIZE; k++)
        loss += 0.01 * (k % 7 + 1) * a[k] * a[k];
    for (int i = 0; i < ROWS; i++)
        loss += left[i] * left[i];
    return loss;
}

static double point[SIZE];

static void setup(void)
{
    corpus_seed(137);
    corpus_fill(point, SIZE, 0.3, 1.2);
}

static double value(const double *x)
{
    return whole(x);
}

static double tangent(const double *x, const double *v)
{
    return __enzyme_fwddiff((void *)whole, enzyme_dup, x, v);
}

static void gradient(const double *x, double *g)
{
    corpus_zero(g, SIZE);
    __enzyme_autodiff((void *)whole, enzyme_dup, x, g);
}

static const struct corpus_problem problem = {
    .name = "orders_in_rows",
    .size = SIZE,
    .point = point,
    .setup = setup,
    .value = value,
    .tangent = tangent,
    .gradient = gradient,
};

CORPUS_MAIN(&problem)
