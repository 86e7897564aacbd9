// Eigen: a regression by one hidden layer, matrices of dynamic size: loss = |tanh(X W1) W2 - Y|^2 / 2 for n samples, 32 inputs,
// 48 hidden units, 8 outputs. By hand: with Eigen, too; the hidden layer and the residual are kept.
// Source: Bishop, "Pattern Recognition and Machine Learning", section 5.3.
// Eigen spells multiply-add out as assembly where the processor has it, which the plugin refuses (E0203).
// bench: flags -mno-fma
#include <Eigen/Core>

#include "../corpus/corpus.hpp"
#include "bench.h"

using Eigen::Index;
using Eigen::Map;
using Eigen::MatrixXd;

enum { IN = 32, HIDDEN = 48, OUT = 8, NET_SIZE = IN * HIDDEN + HIDDEN * OUT };

struct regression {
    bench_point point;
    double *samples, *targets;
};

static double regression_loss(const double *weights, const double *samples, const double *targets, int n)
{
    Map<const MatrixXd> first(weights, IN, HIDDEN), second(weights + IN * HIDDEN, HIDDEN, OUT);
    Map<const MatrixXd> x(samples, n, IN), y(targets, n, OUT);
    MatrixXd hidden = x * first;
    hidden = hidden.array().tanh();
    MatrixXd residual = hidden * second;
    residual -= y;
    return 0.5 * residual.squaredNorm();
}

static void regression_into(const double *weights, const double *samples, const double *targets, int n,
                            double *restrict result)
{
    *result = regression_loss(weights, samples, targets, n);
}

BENCH_INLINE double adjoint(const regression *data, double *restrict g)
{
    int n = data->point.size;
    const double *weights = data->point.x;
    Map<const MatrixXd> first(weights, IN, HIDDEN), second(weights + IN * HIDDEN, HIDDEN, OUT);
    Map<const MatrixXd> x(data->samples, n, IN), y(data->targets, n, OUT);
    Map<MatrixXd> first_adjoint(g, IN, HIDDEN), second_adjoint(g + IN * HIDDEN, HIDDEN, OUT);
    MatrixXd hidden = x * first;
    hidden = hidden.array().tanh();
    MatrixXd residual = hidden * second;
    residual -= y;
    second_adjoint.noalias() += hidden.transpose() * residual;
    MatrixXd slopes = residual * second.transpose();
    slopes.array() *= 1.0 - hidden.array().square();
    first_adjoint.noalias() += x.transpose() * slopes;
    return 0.5 * residual.squaredNorm();
}

static bench_point *bench_setup(int n)
{
    regression *data = BENCH_NEW(regression, 1);
    data->point = {n, NET_SIZE, BENCH_NEW(double, NET_SIZE)};
    data->samples = BENCH_NEW(double, n *IN);
    data->targets = BENCH_NEW(double, n *OUT);
    corpus_seed(118);
    corpus_fill(data->point.x, NET_SIZE, -0.2, 0.2);
    corpus_fill(data->samples, (size_t)(n * IN), -1.0, 1.0);
    corpus_fill(data->targets, (size_t)(n * OUT), -1.0, 1.0);
    return &data->point;
}

static double bench_primal(bench_point *at)
{
    regression *data = (regression *)at;
    return regression_loss(at->x, data->samples, data->targets, at->size);
}

static void bench_gradient(bench_point *at, double *g)
{
    regression *data = (regression *)at;
    memset(g, 0, sizeof(double) * at->count);
    __enzyme_autodiff<void>((void *)regression_loss, enzyme_dup, at->x, g, enzyme_const, data->samples, enzyme_const,
                            data->targets, enzyme_const, at->size);
}

CORPUS_UNUSED static double bench_value_gradient(bench_point *at, double *g)
{
    regression *data = (regression *)at;
    double result = 0.0, seed = 1.0;
    memset(g, 0, sizeof(double) * at->count);
    __enzyme_autodiff<void>((void *)regression_into, enzyme_dup, at->x, g, enzyme_const, data->samples, enzyme_const,
                            data->targets, enzyme_const, at->size, enzyme_dup, &result, &seed);
    return result;
}

BENCH_HAND(regression, adjoint)

static size_t bench_kept(int n)
{
    return sizeof(double) * (size_t)n * (HIDDEN + OUT); // the hidden layer and the residual
}

extern "C" const bench_kernel BENCH_NAME(BENCH_COLUMN) = {
    .name = "eigen_net",
    .small = 5,
    .normal = 200,
    .sweep = {20, 200, 2000},
    BENCH_FUNCTIONS,
    .hand_checkpoints = nullptr,
    .kept = bench_kept,
    .tolerance = 1e-11,
};
