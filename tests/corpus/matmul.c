// C = A B with row-major matrices, and loss = sum_ij W_ij tanh(C_ij).
// Variant: the product alone, seeded with the adjoint of C: dA += dC B^T, dB += A^T dC.
#include "corpus.h"

static void matmul(const double *restrict a, const double *restrict b, double *restrict c, int rows, int inner,
                   int columns)
{
    for (int i = 0; i < rows; i++) {
        for (int j = 0; j < columns; j++)
            c[i * columns + j] = 0.0;
        for (int k = 0; k < inner; k++)
            for (int j = 0; j < columns; j++)
                c[i * columns + j] += a[i * inner + k] * b[k * columns + j];
    }
}

static double matmul_loss(const double *a, const double *b, double *c, const double *weights, int rows, int inner,
                          int columns)
{
    double loss = 0.0;
    matmul(a, b, c, rows, inner, columns);
    for (int i = 0; i < rows * columns; i++)
        loss += weights[i] * tanh(c[i]);
    return loss;
}

enum {
    ROWS = CORPUS_SIZE(30, 3),
    INNER = CORPUS_SIZE(40, 4),
    COLUMNS = CORPUS_SIZE(24, 2),
    A = ROWS * INNER,
    B = INNER * COLUMNS,
    C = ROWS * COLUMNS,
    SIZE = A + B
};

static double point[SIZE], weights[C], product[C], product_shadow[C];

static void setup(void)
{
    corpus_seed(9);
    corpus_fill(point, SIZE, -0.5, 0.5);
    corpus_fill(weights, C, -1.0, 1.0);
}

static double value(const double *x)
{
    return matmul_loss(x, x + A, product, weights, ROWS, INNER, COLUMNS);
}

static double tangent(const double *x, const double *v)
{
    corpus_zero(product_shadow, C);
    return __enzyme_fwddiff((void *)matmul_loss, enzyme_dup, x, v, enzyme_dup, x + A, v + A, enzyme_dup, product,
                            product_shadow, enzyme_const, weights, enzyme_const, ROWS, enzyme_const, INNER,
                            enzyme_const, COLUMNS);
}

static void gradient(const double *x, double *g)
{
    corpus_zero(g, SIZE);
    corpus_zero(product_shadow, C);
    __enzyme_autodiff((void *)matmul_loss, enzyme_dup, x, g, enzyme_dup, x + A, g + A, enzyme_dup, product,
                      product_shadow, enzyme_const, weights, enzyme_const, ROWS, enzyme_const, INNER, enzyme_const,
                      COLUMNS);
}

static void gradient_seeded(const double *x, double *g)
{
    matmul(x, x + A, product, ROWS, INNER, COLUMNS);
    for (int i = 0; i < C; i++)
        product_shadow[i] = weights[i] * (1.0 - tanh(product[i]) * tanh(product[i]));
    corpus_zero(g, SIZE);
    __enzyme_autodiff_void((void *)matmul, x, g, x + A, g + A, enzyme_dupnoneed, product, product_shadow, ROWS, INNER,
                           COLUMNS);
}

// Shadows accumulate: a second reverse sweep adds to what the first one left.
static void gradient_accumulated(const double *x, double *g)
{
    corpus_zero(g, SIZE);
    for (int repeat = 0; repeat < 2; repeat++) {
        corpus_zero(product_shadow, C);
        __enzyme_autodiff((void *)matmul_loss, x, g, x + A, g + A, enzyme_dupnoneed, product, product_shadow,
                          enzyme_const, weights, ROWS, INNER, COLUMNS);
    }
    for (int i = 0; i < SIZE; i++)
        g[i] *= 0.5;
}

// What is overwritten before it is read has adjoint zero on entry, so the sweep leaves the product's shadow cleared.
static int extra(void)
{
    double *g = corpus_vector(SIZE);
    gradient_seeded(point, g);
    double left = corpus_norm(product_shadow, C);
    free(g);
    return corpus_check("matmul", "shadow of the overwritten product is cleared", left, 0.0);
}

static const struct corpus_problem problem = {
    .name = "matmul",
    .size = SIZE,
    .point = point,
    .setup = setup,
    .value = value,
    .tangent = tangent,
    .gradient = gradient,
    .variants =
        {
            {.name = "gradient from seeded output", .gradient = gradient_seeded},
            {.name = "gradient accumulated twice", .gradient = gradient_accumulated},
        },
    .extra = extra,
};

CORPUS_MAIN(&problem)
