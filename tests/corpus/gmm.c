// Log-posterior of a Gaussian mixture model with a Wishart prior on the inverse covariances:
//
//   L = -n d/2 log(2 pi) + sum_i log sum_k exp(alpha_k + sum(q_k) - |Q_k (x_i - mu_k)|^2 / 2) - n log sum_k exp(alpha_k)
//       + sum_k (gamma^2 (|exp(q_k)|^2 + |l_k|^2) / 2 - m sum(q_k)) - K log C
//
// where Q_k is lower triangular with diagonal exp(q_k) and strictly lower part l_k stored by columns, and C is the
// constant of the Wishart density.
// Source: Srajer, Kukelova, Fitzgibbon, "A benchmark of selected algorithmic differentiation tools on some problems in
// computer vision and machine learning", Optimization Methods and Software 33 (2018), section 4.1.
#include "corpus.h"

struct wishart {
    double gamma;
    int m;
};

static double log_sum_exp(int count, const double *values)
{
    double largest = values[0];
    for (int i = 1; i < count; i++)
        if (values[i] > largest)
            largest = values[i];
    double sum = 0.0;
    for (int i = 0; i < count; i++)
        sum += exp(values[i] - largest);
    return log(sum) + largest;
}

// out = Q v for the factor with diagonal `diagonal` and strictly lower columns `lower`.
static void factor_times(int d, const double *diagonal, const double *lower, const double *v, double *out)
{
    for (int i = 0; i < d; i++)
        out[i] = diagonal[i] * v[i];
    for (int column = 0; column < d; column++)
        for (int row = column + 1; row < d; row++)
            out[row] += *lower++ * v[column];
}

static double log_wishart_constant(int d, const struct wishart *prior)
{
    int freedom = d + prior->m + 1;
    double log_gamma = 0.25 * d * (d - 1) * log(M_PI);
    for (int j = 1; j <= d; j++)
        log_gamma += lgamma(0.5 * freedom + 0.5 * (1 - j));
    return freedom * d * (log(prior->gamma) - 0.5 * log(2.0)) - log_gamma;
}

static double log_wishart_prior(int d, int k, const struct wishart *prior, const double *diagonals, const double *sums,
                                const double *factors)
{
    int stride = d * (d + 1) / 2;
    double total = 0.0;
    for (int component = 0; component < k; component++) {
        double frobenius = 0.0;
        for (int i = 0; i < d; i++)
            frobenius += diagonals[component * d + i] * diagonals[component * d + i];
        for (int i = d; i < stride; i++)
            frobenius += factors[component * stride + i] * factors[component * stride + i];
        total += 0.5 * prior->gamma * prior->gamma * frobenius - prior->m * sums[component];
    }
    return total - k * log_wishart_constant(d, prior);
}

static double gmm_objective(int d, int k, int n, const double *alphas, const double *means, const double *factors,
                            const double *points, const struct wishart *prior)
{
    int stride = d * (d + 1) / 2;
    double *diagonals = malloc(sizeof(double) * (size_t)(k * d));
    double *sums = malloc(sizeof(double) * (size_t)k);
    double *terms = malloc(sizeof(double) * (size_t)k);
    double *centred = malloc(sizeof(double) * (size_t)d);
    double *scaled = malloc(sizeof(double) * (size_t)d);

    for (int component = 0; component < k; component++) {
        sums[component] = 0.0;
        for (int i = 0; i < d; i++) {
            double q = factors[component * stride + i];
            sums[component] += q;
            diagonals[component * d + i] = exp(q);
        }
    }

    double total = 0.0;
    for (int point = 0; point < n; point++) {
        for (int component = 0; component < k; component++) {
            for (int i = 0; i < d; i++)
                centred[i] = points[point * d + i] - means[component * d + i];
            factor_times(d, &diagonals[component * d], &factors[component * stride + d], centred, scaled);
            double squares = 0.0;
            for (int i = 0; i < d; i++)
                squares += scaled[i] * scaled[i];
            terms[component] = alphas[component] + sums[component] - 0.5 * squares;
        }
        total += log_sum_exp(k, terms);
    }

    double result = -n * d * 0.5 * log(2.0 * M_PI) + total - n * log_sum_exp(k, alphas) +
                    log_wishart_prior(d, k, prior, diagonals, sums, factors);
    free(diagonals);
    free(sums);
    free(terms);
    free(centred);
    free(scaled);
    return result;
}

enum {
    D = CORPUS_SIZE(10, 3),
    K = CORPUS_SIZE(25, 4),
    N = CORPUS_SIZE(1000, 12),
    STRIDE = D * (D + 1) / 2,
    MEANS = K,
    FACTORS = MEANS + K * D,
    SIZE = FACTORS + K * STRIDE
};

static const struct wishart prior = {.gamma = 1.0, .m = 0};
static double point[SIZE], points[N * D];

static void setup(void)
{
    corpus_seed(1);
    corpus_fill(point, MEANS, -1.0, 1.0);
    corpus_fill(point + MEANS, K * D, -1.0, 1.0);
    corpus_fill(point + FACTORS, K * STRIDE, -0.5, 0.5);
    corpus_fill(points, N * D, -1.0, 1.0);
}

static double value(const double *x)
{
    return gmm_objective(D, K, N, x, x + MEANS, x + FACTORS, points, &prior);
}

static double tangent(const double *x, const double *v)
{
    return __enzyme_fwddiff((void *)gmm_objective, enzyme_const, D, enzyme_const, K, enzyme_const, N, enzyme_dup, x, v,
                            enzyme_dup, x + MEANS, v + MEANS, enzyme_dup, x + FACTORS, v + FACTORS, enzyme_const,
                            points, enzyme_const, &prior);
}

static void gradient(const double *x, double *g)
{
    corpus_zero(g, SIZE);
    __enzyme_autodiff((void *)gmm_objective, enzyme_const, D, enzyme_const, K, enzyme_const, N, enzyme_dup, x, g,
                      enzyme_dup, x + MEANS, g + MEANS, enzyme_dup, x + FACTORS, g + FACTORS, enzyme_const, points,
                      enzyme_const, &prior);
}

// The means alone are active.
static void gradient_means(const double *x, double *g)
{
    corpus_zero(g + MEANS, K * D);
    __enzyme_autodiff((void *)gmm_objective, D, K, N, enzyme_const, x, enzyme_dupnoneed, x + MEANS, g + MEANS,
                      enzyme_const, x + FACTORS, enzyme_const, points, enzyme_const, &prior);
}

static const struct corpus_problem problem = {
    .name = "gmm",
    .size = SIZE,
    .point = point,
    .setup = setup,
    .value = value,
    .tangent = tangent,
    .gradient = gradient,
    .variants = {{.name = "gradient of the means alone", .gradient = gradient_means, .begin = MEANS, .end = FACTORS}},
};

CORPUS_MAIN(&problem)
