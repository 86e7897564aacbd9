// Several steps of expectation maximisation for a mixture of one-dimensional Gaussians, differentiated as an
// algorithm: the log-likelihood after the steps with respect to starting values and data. Components are an array of
// structs updated by assignment. Source: Bishop, "Pattern Recognition and Machine Learning", section 9.2.2.
#include "corpus.h"

typedef struct component {
    double weight, mean, variance;
} component;

static double density(component c, double x)
{
    double d = x - c.mean;
    return c.weight * exp(-0.5 * d * d / c.variance) / sqrt(6.283185307179586 * c.variance);
}

static double em_step(component *components, int k, const double *data, int n, double *responsibilities)
{
    double likelihood = 0.0;
    for (int i = 0; i < n; i++) {
        double *r = responsibilities + i * k, sum = 0.0;
        for (int j = 0; j < k; j++)
            sum += r[j] = density(components[j], data[i]);
        for (int j = 0; j < k; j++)
            r[j] /= sum;
        likelihood += log(sum);
    }
    for (int j = 0; j < k; j++) {
        component next = {0.0, 0.0, 0.0};
        for (int i = 0; i < n; i++) {
            next.weight += responsibilities[i * k + j];
            next.mean += responsibilities[i * k + j] * data[i];
        }
        next.mean /= next.weight;
        for (int i = 0; i < n; i++)
            next.variance += responsibilities[i * k + j] * (data[i] - next.mean) * (data[i] - next.mean);
        next.variance = next.variance / next.weight + 1e-3;
        next.weight /= n;
        components[j] = next;
    }
    return likelihood;
}

static double mixture_likelihood(const double *start, const double *data, int k, int n, int steps)
{
    component components[8];
    double *responsibilities = malloc(sizeof(double) * (size_t)(n * k)), result = 0.0;
    for (int j = 0; j < k; j++)
        components[j] = (component){1.0 / k, start[2 * j], exp(start[2 * j + 1])};
    for (int s = 0; s < steps; s++)
        result = em_step(components, k, data, n, responsibilities);
    free(responsibilities);
    return result / n;
}

enum { K = 3, N = CORPUS_SIZE(80, 8), STEPS = CORPUS_SIZE(5, 2), SIZE = 2 * K + N };

static double point[SIZE];

static void setup(void)
{
    corpus_seed(152);
    for (int j = 0; j < K; j++) {
        point[2 * j] = -1.5 + 1.4 * j;
        point[2 * j + 1] = -0.5;
    }
    for (int i = 0; i < N; i++)
        point[2 * K + i] = -2.0 + 2.0 * (i % 3) + corpus_uniform(-0.8, 0.8);
}

static double value(const double *x)
{
    return mixture_likelihood(x, x + 2 * K, K, N, STEPS);
}

static double tangent(const double *x, const double *v)
{
    return __enzyme_fwddiff((void *)mixture_likelihood, enzyme_dup, x, v, enzyme_dup, x + 2 * K, v + 2 * K,
                            enzyme_const, K, enzyme_const, N, enzyme_const, STEPS);
}

static void gradient(const double *x, double *g)
{
    corpus_zero(g, SIZE);
    __enzyme_autodiff((void *)mixture_likelihood, enzyme_dup, x, g, enzyme_dup, x + 2 * K, g + 2 * K, enzyme_const, K,
                      enzyme_const, N, enzyme_const, STEPS);
}

static const struct corpus_problem problem = {
    .name = "em_mixture",
    .size = SIZE,
    .point = point,
    .setup = setup,
    .value = value,
    .tangent = tangent,
    .gradient = gradient,
};

CORPUS_MAIN(&problem)
