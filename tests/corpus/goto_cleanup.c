// Error handling by goto: resources are acquired in order, each failure jumps to the label that releases what was
// acquired so far. Weighted least squares by QR; a rank-deficient block (decided by its data) is skipped with an
// error code.
// Source: Golub, Van Loan, "Matrix Computations", algorithm 5.2.5 (modified Gram-Schmidt).
#include "corpus.h"

enum status { OK, NO_MEMORY, RANK_DEFICIENT, NOT_FINITE };

static enum status solve_block(const double *a, const double *b, int rows, int columns, double *out)
{
    enum status status = NO_MEMORY;
    double *q = NULL, *r = NULL, *y = NULL;

    q = malloc(sizeof(double) * (size_t)(rows * columns));
    if (!q)
        goto done;
    r = calloc((size_t)(columns * columns), sizeof(double));
    if (!r)
        goto free_q;
    y = calloc((size_t)columns, sizeof(double));
    if (!y)
        goto free_r;

    memcpy(q, a, sizeof(double) * (size_t)(rows * columns));
    for (int j = 0; j < columns; j++) {
        double norm = 0.0;
        for (int i = 0; i < rows; i++)
            norm += q[i * columns + j] * q[i * columns + j];
        if (norm < 1e-12) {
            status = RANK_DEFICIENT;
            goto free_y;
        }
        norm = sqrt(norm);
        r[j * columns + j] = norm;
        for (int i = 0; i < rows; i++) {
            q[i * columns + j] /= norm;
            y[j] += q[i * columns + j] * b[i];
        }
        for (int k = j + 1; k < columns; k++) {
            double dot = 0.0;
            for (int i = 0; i < rows; i++)
                dot += q[i * columns + j] * q[i * columns + k];
            r[j * columns + k] = dot;
            for (int i = 0; i < rows; i++)
                q[i * columns + k] -= dot * q[i * columns + j];
        }
    }
    for (int j = columns - 1; j >= 0; j--) {
        for (int k = j + 1; k < columns; k++)
            y[j] -= r[j * columns + k] * y[k];
        y[j] /= r[j * columns + j];
        if (!isfinite(y[j])) {
            status = NOT_FINITE;
            goto free_y;
        }
    }
    *out = 0.0;
    for (int j = 0; j < columns; j++)
        *out += y[j] * y[j];
    status = OK;

free_y:
    free(y);
free_r:
    free(r);
free_q:
    free(q);
done:
    return status;
}

static double blocks_loss(const double *x, int blocks, int rows, int columns)
{
    double loss = 0.0;
    int skipped = 0;
    for (int k = 0; k < blocks; k++) {
        const double *a = x + k * rows * (columns + 1);
        double part;
        switch (solve_block(a, a + rows * columns, rows, columns, &part)) {
        case OK:
            loss += part / (1 + k);
            break;
        case RANK_DEFICIENT:
            skipped++;
            break;
        default:
            return NAN;
        }
    }
    return loss * (1.0 + 0.1 * skipped);
}

enum { BLOCKS = CORPUS_SIZE(8, 3), ROWS = 6, COLUMNS = 3, BLOCK = ROWS * (COLUMNS + 1), SIZE = BLOCKS * BLOCK };

static double point[SIZE];

// In one block the second column vanishes and the finite differences keep it below the threshold.
static void setup(void)
{
    corpus_seed(134);
    corpus_fill(point, SIZE, -1.0, 1.0);
    for (int i = 0; i < ROWS; i++)
        point[BLOCK + i * COLUMNS + 1] = 0.0;
}

static double value(const double *x)
{
    return blocks_loss(x, BLOCKS, ROWS, COLUMNS);
}

static double tangent(const double *x, const double *v)
{
    return __enzyme_fwddiff((void *)blocks_loss, enzyme_dup, x, v, enzyme_const, BLOCKS, enzyme_const, ROWS,
                            enzyme_const, COLUMNS);
}

static void gradient(const double *x, double *g)
{
    corpus_zero(g, SIZE);
    __enzyme_autodiff((void *)blocks_loss, enzyme_dup, x, g, enzyme_const, BLOCKS, enzyme_const, ROWS, enzyme_const,
                      COLUMNS);
}

static const struct corpus_problem problem = {
    .name = "goto_cleanup",
    .size = SIZE,
    .point = point,
    .setup = setup,
    .value = value,
    .tangent = tangent,
    .gradient = gradient,
    .step = 0x1p-22, // keeps the empty column below its threshold
    .fd_tolerance = 1e-5, // rounding over a step of 2^-22
};

CORPUS_MAIN(&problem)
