// Gaussian mixture of ADBench (the corpus program), d = 10, K = 25, n points. By hand: each point goes forward and back before
// the next one; kept are one point's centred and scaled coordinates for all components.
#include "bench.h"

#include "../corpus/gmm.c"

enum { GMM_D = 10, GMM_K = 25, GMM_STRIDE = GMM_D * (GMM_D + 1) / 2, GMM_SIZE = GMM_K * (1 + GMM_D + GMM_STRIDE) };
enum { GMM_FACTORS = GMM_K + GMM_K * GMM_D };

struct mixture {
    struct bench_point point;
    double *points;
    int d, k;
    struct wishart prior;
};

static void gmm_into(int d, int k, int n, const double *alphas, const double *means, const double *factors,
                     const double *samples, const struct wishart *belief, double *restrict result)
{
    *result = gmm_objective(d, k, n, alphas, means, factors, samples, belief);
}

BENCH_INLINE double adjoint(const struct mixture *data, double *restrict g)
{
    int d = data->d, k = data->k, n = data->point.size, stride = d * (d + 1) / 2;
    const double *restrict alphas = data->point.x, *restrict means = alphas + k, *restrict factors = means + k * d;
    double *restrict alphas_adjoint = g, *restrict means_adjoint = g + k, *restrict factors_adjoint = g + k + k * d;
    double *restrict memory = (double *)malloc(sizeof(double) * (size_t)(4 * k * d + 3 * k));
    double *restrict diagonals = memory, *restrict diagonals_adjoint = diagonals + k * d;
    double *restrict all_centred = diagonals_adjoint + k * d, *restrict all_scaled = all_centred + k * d;
    double *restrict sums = all_scaled + k * d, *restrict sums_adjoint = sums + k, *restrict terms = sums_adjoint + k;

    memset(diagonals_adjoint, 0, sizeof(double) * (size_t)(k * d));
    memset(sums_adjoint, 0, sizeof(double) * (size_t)k);
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
            double *restrict centred = all_centred + component * d, *restrict scaled = all_scaled + component * d;
            const double *restrict lower = factors + component * stride + d;
            for (int i = 0; i < d; i++)
                centred[i] = data->points[point * d + i] - means[component * d + i];
            for (int i = 0; i < d; i++)
                scaled[i] = diagonals[component * d + i] * centred[i];
            for (int column = 0; column < d; column++)
                for (int row = column + 1; row < d; row++)
                    scaled[row] += *lower++ * centred[column];
            double squares = 0.0;
            for (int i = 0; i < d; i++)
                squares += scaled[i] * scaled[i];
            terms[component] = alphas[component] + sums[component] - 0.5 * squares;
        }
        double largest = terms[0], sum = 0.0;
        for (int component = 1; component < k; component++)
            if (terms[component] > largest)
                largest = terms[component];
        for (int component = 0; component < k; component++) {
            terms[component] = exp(terms[component] - largest);
            sum += terms[component];
        }
        total += log(sum) + largest;

        for (int component = 0; component < k; component++) {
            double weight = terms[component] / sum;
            const double *restrict centred = all_centred + component * d;
            double *restrict slopes = all_scaled + component * d;
            const double *restrict lower = factors + component * stride + d;
            double *restrict lower_adjoint = factors_adjoint + component * stride + d;
            alphas_adjoint[component] += weight;
            sums_adjoint[component] += weight;
            for (int i = 0; i < d; i++)
                slopes[i] *= -weight;
            for (int i = 0; i < d; i++)
                diagonals_adjoint[component * d + i] += slopes[i] * centred[i];
            for (int column = 0; column < d; column++) {
                double centred_adjoint = diagonals[component * d + column] * slopes[column];
                for (int row = column + 1; row < d; row++) {
                    *lower_adjoint++ += slopes[row] * centred[column];
                    centred_adjoint += *lower++ * slopes[row];
                }
                means_adjoint[component * d + column] -= centred_adjoint;
            }
        }
    }

    double largest = alphas[0], sum = 0.0, prior_value = 0.0, gamma = data->prior.gamma;
    for (int component = 1; component < k; component++)
        if (alphas[component] > largest)
            largest = alphas[component];
    for (int component = 0; component < k; component++) {
        terms[component] = exp(alphas[component] - largest);
        sum += terms[component];
    }
    for (int component = 0; component < k; component++) {
        alphas_adjoint[component] -= n * terms[component] / sum;
        double frobenius = 0.0;
        for (int i = 0; i < d; i++) {
            double diagonal = diagonals[component * d + i];
            frobenius += diagonal * diagonal;
            factors_adjoint[component * stride + i] +=
                (diagonals_adjoint[component * d + i] + gamma * gamma * diagonal) * diagonal + sums_adjoint[component] -
                data->prior.m;
        }
        for (int i = d; i < stride; i++) {
            frobenius += factors[component * stride + i] * factors[component * stride + i];
            factors_adjoint[component * stride + i] += gamma * gamma * factors[component * stride + i];
        }
        prior_value += 0.5 * gamma * gamma * frobenius - data->prior.m * sums[component];
    }
    double result = -n * d * 0.5 * log(2.0 * M_PI) + total - n * (log(sum) + largest) + prior_value -
                    k * log_wishart_constant(d, &data->prior);
    free(memory);
    return result;
}

static struct bench_point *bench_setup(int n)
{
    struct mixture *data = BENCH_NEW(struct mixture, 1);
    data->point = (struct bench_point){n, GMM_SIZE, BENCH_NEW(double, GMM_SIZE)};
    data->points = BENCH_NEW(double, n *GMM_D);
    data->d = GMM_D;
    data->k = GMM_K;
    data->prior = (struct wishart){1.0, 0};
    corpus_seed(105);
    corpus_fill(data->point.x, GMM_K * (1 + GMM_D), -1.0, 1.0);
    corpus_fill(data->point.x + GMM_K * (1 + GMM_D), GMM_K * GMM_STRIDE, -0.5, 0.5);
    corpus_fill(data->points, (size_t)(n * GMM_D), -1.0, 1.0);
    return &data->point;
}

static double bench_primal(struct bench_point *point)
{
    struct mixture *data = (struct mixture *)point;
    const double *x = point->x;
    return gmm_objective(data->d, data->k, point->size, x, x + GMM_K, x + GMM_K + GMM_K * GMM_D, data->points,
                         &data->prior);
}

static void bench_gradient(struct bench_point *point, double *g)
{
    struct mixture *data = (struct mixture *)point;
    const double *x = point->x;
    memset(g, 0, sizeof(double) * point->count);
    __enzyme_autodiff_void((void *)gmm_objective, enzyme_const, data->d, enzyme_const, data->k, enzyme_const,
                           point->size, enzyme_dup, x, g, enzyme_dup, x + GMM_K, g + GMM_K, enzyme_dup,
                           x + GMM_K + GMM_K * GMM_D, g + GMM_K + GMM_K * GMM_D, enzyme_const, data->points,
                           enzyme_const, &data->prior);
}

static double bench_value_gradient(struct bench_point *point, double *g)
{
    struct mixture *data = (struct mixture *)point;
    const double *x = point->x;
    double result = 0.0, seed = 1.0;
    memset(g, 0, sizeof(double) * point->count);
    __enzyme_autodiff_void((void *)gmm_into, enzyme_const, data->d, enzyme_const, data->k, enzyme_const, point->size,
                           enzyme_dup, x, g, enzyme_dup, x + GMM_K, g + GMM_K, enzyme_dup, x + GMM_K + GMM_K * GMM_D,
                           g + GMM_K + GMM_K * GMM_D, enzyme_const, data->points, enzyme_const, &data->prior,
                           enzyme_dup, &result, &seed);
    return result;
}

BENCH_HAND(struct mixture, adjoint)

#ifdef BENCH_GRADIENT_ALONE
#define GMM_LANES {NULL}
#else
#define GMM_LANES {bench_tangent, bench_eight_tangents, bench_adjoint, bench_eight_adjoints}

// Lanes: all parameters in one block of memory for each. The sum of all partial derivatives is what a tangent in direction
// (1, ..., 1) is, and what the gradient of an adjoint adds up to.
enum { LANES = 8 };

struct eight {
    double lane[LANES];
};

extern struct eight __enzyme_fwddiff_eight(void *function, ...);
extern int enzyme_width, enzyme_dupv;

static double lanes[LANES][GMM_SIZE];

static void fill_lanes(int count, double factor)
{
    for (int l = 0; l < count; l++)
        for (int k = 0; k < GMM_SIZE; k++)
            lanes[l][k] = factor * (l + 1);
}

static double sum_of_lane(int l)
{
    double sum = 0.0;
    for (int k = 0; k < GMM_SIZE; k++)
        sum += lanes[l][k];
    return sum / (l + 1);
}

#define GMM_ONE(dup) dup, x, lanes[0], dup, x + GMM_K, lanes[0] + GMM_K, dup, x + GMM_FACTORS, lanes[0] + GMM_FACTORS
#define GMM_EIGHT                                                                                                      \
    enzyme_dupv, sizeof lanes[0], x, lanes[0], enzyme_dupv, sizeof lanes[0], x + GMM_K, lanes[0] + GMM_K, enzyme_dupv, \
        sizeof lanes[0], x + GMM_FACTORS, lanes[0] + GMM_FACTORS
#define GMM_SIZES enzyme_const, data->d, enzyme_const, data->k, enzyme_const, point->size
#define GMM_REST enzyme_const, data->points, enzyme_const, &data->prior

static void bench_tangent(struct bench_point *point, double *gradient)
{
    struct mixture *data = (struct mixture *)point;
    const double *x = point->x;
    fill_lanes(1, 1.0);
    gradient[0] = __enzyme_fwddiff((void *)gmm_objective, GMM_SIZES, GMM_ONE(enzyme_dup), GMM_REST);
}

static void bench_eight_tangents(struct bench_point *point, double *gradient)
{
    struct mixture *data = (struct mixture *)point;
    const double *x = point->x;
    fill_lanes(LANES, 1.0);
    struct eight all = __enzyme_fwddiff_eight((void *)gmm_objective, enzyme_width, LANES, GMM_SIZES, GMM_EIGHT, GMM_REST);
    gradient[0] = all.lane[LANES - 1] / LANES;
}

static void bench_adjoint(struct bench_point *point, double *gradient)
{
    struct mixture *data = (struct mixture *)point;
    const double *x = point->x;
    double result = 0.0, seed = 1.0;
    fill_lanes(1, 0.0);
    __enzyme_autodiff_void((void *)gmm_into, GMM_SIZES, GMM_ONE(enzyme_dup), GMM_REST, enzyme_dup, &result, &seed);
    gradient[0] = sum_of_lane(0);
}

static void bench_eight_adjoints(struct bench_point *point, double *gradient)
{
    struct mixture *data = (struct mixture *)point;
    const double *x = point->x;
    double result = 0.0, seeds[LANES];
    for (int l = 0; l < LANES; l++)
        seeds[l] = l + 1;
    fill_lanes(LANES, 0.0);
    __enzyme_autodiff_void((void *)gmm_into, enzyme_width, LANES, GMM_SIZES, GMM_EIGHT, GMM_REST, enzyme_dupv,
                           sizeof(double), &result, seeds);
    gradient[0] = sum_of_lane(LANES - 1);
}

#endif

static size_t bench_kept(int n)
{
    return sizeof(double) * (size_t)n * GMM_K * (GMM_D + 1); // the scaled coordinates and the terms
}

static void bench_inputs(const struct bench_point *point, struct bench_input *inputs)
{
    const struct mixture *data = (const struct mixture *)point;
    inputs[0] = BENCH_REALS("points", data->points, point->size * data->d);
    inputs[1] = BENCH_INTEGERS("d", &data->d, 1);
    inputs[2] = BENCH_INTEGERS("k", &data->k, 1);
    inputs[3] = BENCH_REALS("gamma", &data->prior.gamma, 1);
    inputs[4] = BENCH_INTEGERS("m", &data->prior.m, 1);
}

const struct bench_kernel BENCH_NAME(BENCH_COLUMN) = {
    .name = "gmm",
    .small = 10,
    .normal = 1000,
    .sweep = {100, 300, 1000, 3000},
    BENCH_FUNCTIONS,
    .inputs = bench_inputs,
    .lanes = GMM_LANES,
    .kept = bench_kept,
};
