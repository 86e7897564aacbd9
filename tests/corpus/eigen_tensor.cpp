// corpus: no sanitizer
// corpus: levels O1 O2 O3
// Eigen's unsupported Tensor module: a small convolution layer, contraction of a rank-3 tensor and a reduction.
#include <unsupported/Eigen/CXX11/Tensor>

#include "corpus.hpp"

enum { CHANNELS = 2, LENGTH = 6, KERNEL = 3, SIZE = CHANNELS * LENGTH + KERNEL + CHANNELS * 2 };

static double activation(const double *x)
{
    Eigen::Tensor<double, 2> input = Eigen::TensorMap<const Eigen::Tensor<const double, 2>>(x, CHANNELS, LENGTH);
    Eigen::Tensor<double, 1> kernel(KERNEL);
    for (int k = 0; k < KERNEL; k++)
        kernel(k) = x[CHANNELS * LENGTH + k];
    Eigen::TensorMap<const Eigen::Tensor<const double, 2>> mixing(x + CHANNELS * LENGTH + KERNEL, 2, CHANNELS);
    Eigen::array<Eigen::Index, 1> along{1};
    Eigen::Tensor<double, 2> filtered = input.convolve(kernel, along);
    Eigen::array<Eigen::IndexPair<int>, 1> over{Eigen::IndexPair<int>(1, 0)};
    Eigen::Tensor<double, 2> mixed = mixing.contract(filtered, over);
    Eigen::Tensor<double, 0> sum = mixed.tanh().square().sum();
    return sum();
}

static double point[SIZE];

static void setup()
{
    corpus_seed(103);
    corpus_fill(point, SIZE, -1.0, 1.0);
}

static const corpus_problem problem = CORPUS_OF_ARRAY("eigen_tensor", activation, SIZE, point, setup, .coordinates = 8);

CORPUS_MAIN(&problem)
