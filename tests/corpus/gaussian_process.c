// Negative log marginal likelihood of a Gaussian process with a Matern 5/2 kernel plus linear trend: rows of the
// lower triangle are stored one behind the other in packed form, through an array of row pointers. Active:
// hyperparameters, inputs.
// Source: Rasmussen, Williams, "Gaussian Processes for Machine Learning", algorithm 2.1.
#include "corpus.h"

struct kernel {
    double amplitude, length, trend, noise;
};

static double covariance(const struct kernel *k, double a, double b)
{
    double r = sqrt((a - b) * (a - b) + 1e-12) * sqrt(5.0) / k->length;
    return k->amplitude * (1.0 + r + r * r / 3.0) * exp(-r) + k->trend * a * b;
}

static double marginal_likelihood(const double *logs, const double *inputs, const double *targets, int n)
{
    struct kernel k = {exp(logs[0]), exp(logs[1]), exp(logs[2]), exp(logs[3])};
    double *packed = malloc(sizeof(double) * (size_t)(n * (n + 1) / 2));
    double **row = malloc(sizeof(double *) * (size_t)n), *z = malloc(sizeof(double) * (size_t)n);
    double result = 0.5 * n * log(6.283185307179586);
    for (int i = 0, used = 0; i < n; used += ++i)
        row[i] = packed + used;
    for (int i = 0; i < n; i++)
        for (int j = 0; j <= i; j++)
            row[i][j] = covariance(&k, inputs[i], inputs[j]) + (i == j ? k.noise : 0.0);
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < i; j++) {
            for (int s = 0; s < j; s++)
                row[i][j] -= row[i][s] * row[j][s];
            row[i][j] /= row[j][j];
            row[i][i] -= row[i][j] * row[i][j];
        }
        row[i][i] = sqrt(row[i][i]);
    }
    for (int i = 0; i < n; i++) {
        z[i] = targets[i];
        for (int j = 0; j < i; j++)
            z[i] -= row[i][j] * z[j];
        z[i] /= row[i][i];
        result += 0.5 * z[i] * z[i] + log(row[i][i]);
    }
    free(z);
    free(row);
    free(packed);
    return result;
}

enum { N = CORPUS_SIZE(30, 5), SIZE = 4 + N };

static double point[SIZE], targets[N];

static void setup(void)
{
    corpus_seed(156);
    static const double start[4] = {0.2, -0.5, -1.0, -2.0};
    corpus_copy(point, start, 4);
    for (int i = 0; i < N; i++) {
        point[4 + i] = 3.0 * i / N + corpus_uniform(-0.04, 0.04);
        targets[i] = sin(2.0 * point[4 + i]) + corpus_uniform(-0.2, 0.2);
    }
}

static double value(const double *x)
{
    return marginal_likelihood(x, x + 4, targets, N);
}

static double tangent(const double *x, const double *v)
{
    return __enzyme_fwddiff((void *)marginal_likelihood, enzyme_dup, x, v, enzyme_dup, x + 4, v + 4, enzyme_const,
                            targets, enzyme_const, N);
}

static void gradient(const double *x, double *g)
{
    corpus_zero(g, SIZE);
    __enzyme_autodiff((void *)marginal_likelihood, enzyme_dup, x, g, enzyme_dup, x + 4, g + 4, enzyme_const, targets,
                      enzyme_const, N);
}

static const struct corpus_problem problem = {
    .name = "gaussian_process",
    .size = SIZE,
    .point = point,
    .setup = setup,
    .value = value,
    .tangent = tangent,
    .gradient = gradient,
    .step = 1.0 / 1024.0, // inputs a tenth apart
};

CORPUS_MAIN(&problem)
