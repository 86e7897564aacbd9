// corpus: valgrind
// An object whose memory is allocated in the differentiated code and stays with the caller: a factorisation is made,
// kept in the caller's struct together with its statistics, and freed by the caller afterwards; the shadow's memory
// likewise. Loss = log-determinant + x^T A^{-1} x with A = B B^T + diag, through the object.
#include "corpus.h"

struct factor {
    int size;
    double *lower, *solution;
    double logdet;
};

static int factor_create(struct factor *f, const double *b, int n)
{
    f->size = n;
    f->lower = malloc(sizeof(double) * (size_t)(n * n));
    f->solution = calloc((size_t)n, sizeof(double));
    f->logdet = 0.0;
    if (!f->lower || !f->solution)
        return -1;
    for (int i = 0; i < n; i++)
        for (int j = 0; j <= i; j++) {
            double sum = i == j ? n : 0.0;
            for (int k = 0; k < n; k++)
                sum += b[i * n + k] * b[j * n + k];
            for (int k = 0; k < j; k++)
                sum -= f->lower[i * n + k] * f->lower[j * n + k];
            f->lower[i * n + j] = i == j ? sqrt(sum) : sum / f->lower[j * n + j];
        }
    for (int i = 0; i < n; i++)
        f->logdet += 2.0 * log(f->lower[i * n + i]);
    return 0;
}

static void factor_solve(struct factor *f, const double *right)
{
    int n = f->size;
    for (int i = 0; i < n; i++) {
        f->solution[i] = right[i];
        for (int k = 0; k < i; k++)
            f->solution[i] -= f->lower[i * n + k] * f->solution[k];
        f->solution[i] /= f->lower[i * n + i];
    }
}

static void factor_destroy(struct factor *f)
{
    free(f->lower);
    free(f->solution);
    f->lower = f->solution = NULL;
}

static double factor_loss(struct factor *f, const double *b, const double *right, int n)
{
    if (factor_create(f, b, n) != 0)
        return NAN;
    factor_solve(f, right);
    double loss = f->logdet;
    for (int i = 0; i < n; i++)
        loss += f->solution[i] * f->solution[i];
    return loss;
}

enum { N = CORPUS_SIZE(12, 3), SIZE = N * N + N };

static double point[SIZE];

static void setup(void)
{
    corpus_seed(212);
    corpus_fill(point, SIZE, -1.0, 1.0);
}

static double value(const double *x)
{
    struct factor f;
    double loss = factor_loss(&f, x, x + N * N, N);
    factor_destroy(&f);
    return loss;
}

static double tangent(const double *x, const double *v)
{
    struct factor f = {0}, shadow = {0};
    double loss = __enzyme_fwddiff((void *)factor_loss, enzyme_dup, &f, &shadow, enzyme_dup, x, v, enzyme_dup,
                                   x + N * N, v + N * N, enzyme_const, N);
    factor_destroy(&f);
    factor_destroy(&shadow);
    return loss;
}

static void gradient(const double *x, double *g)
{
    struct factor f = {0}, shadow = {0};
    corpus_zero(g, SIZE);
    __enzyme_autodiff((void *)factor_loss, enzyme_dup, &f, &shadow, enzyme_dup, x, g, enzyme_dup, x + N * N, g + N * N,
                      enzyme_const, N);
    factor_destroy(&f);
    factor_destroy(&shadow);
}

static const struct corpus_problem problem = {
    .name = "caller_frees",
    .size = SIZE,
    .point = point,
    .setup = setup,
    .value = value,
    .tangent = tangent,
    .gradient = gradient,
};

CORPUS_MAIN(&problem)
