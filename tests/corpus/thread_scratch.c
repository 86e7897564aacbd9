// Scratch memory in thread-local variables, as numerical libraries keep it: a buffer that is enlarged when a call
// needs more and reused otherwise, and a small fixed array. Matrix exponential by scaling and squaring with a Taylor
// series.
// Source: Moler, Van Loan, "Nineteen dubious ways", SIAM Review 45 (2003), method 3.
#include "corpus.h"

enum { LIMIT = 8 };

static _Thread_local double product[LIMIT * LIMIT];
static _Thread_local double powers[2][LIMIT * LIMIT];
static _Thread_local long multiplications;

static void multiply(const double *a, const double *b, double *c, int n)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            double sum = 0.0;
            for (int k = 0; k < n; k++)
                sum += a[i * n + k] * b[k * n + j];
            product[i * n + j] = sum;
        }
    memcpy(c, product, sizeof(double) * (size_t)(n * n));
    multiplications++;
}

static void exponential(const double *a, double *result, int n, int terms, int squarings)
{
    double *power = powers[0], *scaled = powers[1];
    for (int i = 0; i < n * n; i++) {
        scaled[i] = ldexp(a[i], -squarings);
        power[i] = result[i] = i % (n + 1) == 0 ? 1.0 : 0.0;
    }
    double factorial = 1.0;
    for (int k = 1; k <= terms; k++) {
        multiply(power, scaled, power, n);
        factorial *= k;
        for (int i = 0; i < n * n; i++)
            result[i] += power[i] / factorial;
    }
    for (int s = 0; s < squarings; s++)
        multiply(result, result, result, n);
}

static double exponential_loss(const double *a, const double *b, int n)
{
    double result[LIMIT * LIMIT], loss = 0.0;
    exponential(a, result, n, 10, 4);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            loss += b[i * n + j] * result[i * n + j] * result[j * n + i];
    return loss / n;
}

enum { N = CORPUS_SIZE(7, 3), SIZE = N * N };

static double point[SIZE], weights[SIZE];

static void setup(void)
{
    corpus_seed(131);
    corpus_fill(point, SIZE, -0.7, 0.7);
    corpus_fill(weights, SIZE, -1.0, 1.0);
}

static double value(const double *x)
{
    return exponential_loss(x, weights, N);
}

static double tangent(const double *x, const double *v)
{
    return __enzyme_fwddiff((void *)exponential_loss, enzyme_dup, x, v, enzyme_const, weights, enzyme_const, N);
}

static void gradient(const double *x, double *g)
{
    corpus_zero(g, SIZE);
    __enzyme_autodiff((void *)exponential_loss, enzyme_dup, x, g, enzyme_const, weights, enzyme_const, N);
}

static const struct corpus_problem problem = {
    .name = "thread_scratch",
    .size = SIZE,
    .point = point,
    .setup = setup,
    .value = value,
    .tangent = tangent,
    .gradient = gradient,
};

CORPUS_MAIN(&problem)
