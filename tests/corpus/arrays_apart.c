// Arrays passed as pointers without `restrict`, that are apart in some calls and meet in others: one array for both, shifted by one
// element, the end of one inside of another, odd and even elements of one. What is read through one pointer is overwritten through
// another only where they meet. Loops run up, down, over triangles and around a ring. And two arrays that are apart with one shadow
// for both, which gets the sum of their adjoints.
#include "corpus.h"

enum { N = 6, MATRIX = N * N, CASES = 6, EACH = MATRIX + 4 * N, SIZE = CASES * EACH + N };

static double point[SIZE], work[SIZE];

static double relax(double *to, double *from, double *matrix, int n, int stride)
{
    double loss = 0.0;
    for (int sweep = 0; sweep < 2; sweep++) {
        for (int i = 0; i < n; i++) {
            int before = i == 0 ? n - 1 : i - 1;
            to[i * stride] = from[i * stride] * matrix[i * n + i] + sin(from[before * stride]) * from[i * stride];
        }
        for (int i = 1; i < n; i++)
            for (int j = 0; j < i; j++)
                to[i * stride] -= 0.1 * matrix[i * n + j] * to[j * stride];
        for (int i = n - 1; i >= 0; i--)
            for (int j = i + 1; j < n; j++)
                from[i * stride] = 0.9 * from[i * stride] + 0.1 * matrix[i * n + j] * to[j * stride] * from[j * stride];
    }
    for (int i = 0; i < n; i++)
        loss += to[i * stride] * to[i * stride] * from[i * stride];
    return loss;
}

// The unsigned counter stops where the comparison says `!=`.
static double product(double *out, const double *left, const double *right, unsigned n)
{
    double loss = 0.0;
    for (unsigned i = 0; i != n; i++)
        out[i] = left[i] * right[n - 1 - i] * left[i];
    for (unsigned i = 0; i != n; i++)
        loss += out[i] * out[i];
    return loss;
}

// Where the arrays of a case begin in its part of the numbers.
static const struct {
    int to, from, matrix, stride;
} cases[CASES] = {
    {0, N, 2 * N, 1},                  // apart, without a gap
    {N, N, 2 * N, 1},                  // one for both
    {N + 1, N, 2 * N + 1, 1},          // shifted
    {2 * N + MATRIX - 2, N, 2 * N, 1}, // in the last row of the matrix
    {0, N + 1, 2 * N, 1},              // the last element is the first of the matrix
    {0, 1, 2 * N, 2},                  // odd and even elements
};

static void setup(void)
{
    corpus_seed(211);
    corpus_fill(point, SIZE, 0.2, 0.7);
}

static double value(const double *x)
{
    double out[N], sum;
    corpus_copy(work, x, SIZE);
    sum = product(out, work + CASES * EACH, work + CASES * EACH, N);
    for (int c = 0; c < CASES; c++) {
        double *own = work + c * EACH;
        sum += relax(own + cases[c].to, own + cases[c].from, own + cases[c].matrix, N, cases[c].stride);
    }
    return sum;
}

static double tangent(const double *x, const double *v)
{
    double out[N], shadow[SIZE], out_shadow[N] = {0.0}, sum;
    corpus_copy(work, x, SIZE);
    corpus_copy(shadow, v, SIZE);
    const double *last = work + CASES * EACH, *last_shadow = shadow + CASES * EACH;
    sum = __enzyme_fwddiff((void *)product, enzyme_dup, out, out_shadow, enzyme_dup, last, last_shadow, enzyme_dup, last,
                           last_shadow, N);
    for (int c = 0; c < CASES; c++) {
        double *own = work + c * EACH, *other = shadow + c * EACH;
        sum += __enzyme_fwddiff((void *)relax, enzyme_dup, own + cases[c].to, other + cases[c].to, enzyme_dup,
                                own + cases[c].from, other + cases[c].from, enzyme_dup, own + cases[c].matrix,
                                other + cases[c].matrix, N, cases[c].stride);
    }
    return sum;
}

static void gradient(const double *x, double *g)
{
    double out[N], out_shadow[N] = {0.0}, left[N];
    corpus_copy(work, x, SIZE);
    corpus_zero(g, SIZE);
    const double *last = work + CASES * EACH;
    corpus_copy(left, last, N);
    __enzyme_autodiff((void *)product, enzyme_dup, out, out_shadow, enzyme_dup, left, g + CASES * EACH, enzyme_dup, last,
                      g + CASES * EACH, N);
    for (int c = 0; c < CASES; c++) {
        double *own = work + c * EACH, *other = g + c * EACH;
        __enzyme_autodiff((void *)relax, enzyme_dup, own + cases[c].to, other + cases[c].to, enzyme_dup,
                          own + cases[c].from, other + cases[c].from, enzyme_dup, own + cases[c].matrix,
                          other + cases[c].matrix, N, cases[c].stride);
    }
}

static const struct corpus_problem problem = {
    .name = "arrays_apart",
    .size = SIZE,
    .point = point,
    .setup = setup,
    .value = value,
    .tangent = tangent,
    .gradient = gradient,
};

CORPUS_MAIN(&problem)
