// corpus: levels O0 O3
// Eigen Map with strides, blocks, rows, segments and noalias: one implicit-explicit heat step on a grid in the caller's
// row-major memory, and its gradient with respect to that memory.
#include <Eigen/Core>

#include "corpus.hpp"

enum { ROWS = 5, COLUMNS = 6, SIZE = ROWS * COLUMNS };
using Grid = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

static double roughness(const double *x)
{
    Eigen::Map<const Grid> u(x, ROWS, COLUMNS);
    Grid next = u;
    auto inner = [](const auto &grid, int di, int dj) { return grid.block(1 + di, 1 + dj, ROWS - 2, COLUMNS - 2); };
    next.block(1, 1, ROWS - 2, COLUMNS - 2) +=
        0.2 * (inner(u, 1, 0) + inner(u, -1, 0) + inner(u, 0, 1) + inner(u, 0, -1) - 4.0 * inner(u, 0, 0));
    next.row(0) *= 0.5;
    next.col(COLUMNS - 1).tail(ROWS - 1).array() += next.col(0).head(ROWS - 1).array().square();
    Eigen::Map<const Eigen::VectorXd, 0, Eigen::InnerStride<2>> every_other(x, SIZE / 2);
    Grid gram(COLUMNS, COLUMNS);
    gram.noalias() = next.transpose() * next;
    return gram.norm() + every_other.sum() * next.rightCols(2).mean();
}

static double point[SIZE];

static void setup()
{
    corpus_seed(97);
    corpus_fill(point, SIZE, -1.0, 1.0);
}

static const corpus_problem problem =
    CORPUS_OF_ARRAY("eigen_map_block", roughness, SIZE, point, setup, .coordinates = 8);

CORPUS_MAIN(&problem)
