// Arrays that keep their strides beside the address of their elements and beside a shared pointer, as xtensor's do, and expressions that
// step through them: what is read at an index that is not known is one of the strides, no address.
#include <array>
#include <cstddef>
#include <memory>
#include <vector>

#include "corpus.hpp"

enum { ROWS = 3, COLUMNS = 4, SIZE = ROWS * COLUMNS };

// A value that can be shared by expressions which outlive it.
struct Sharable {
    std::shared_ptr<std::vector<double>> owner;
};

struct Matrix : Sharable {
    std::array<std::ptrdiff_t, 2> shape;
    std::array<std::ptrdiff_t, 2> strides;
    std::array<std::ptrdiff_t, 2> backstrides;
    std::vector<double> values;

    Matrix(std::ptrdiff_t rows, std::ptrdiff_t columns)
        : shape{rows, columns}, strides{columns == 1 ? 0 : columns, 1}, backstrides{strides[0] * (rows - 1), columns - 1},
          values(static_cast<std::size_t>(rows * columns))
    {
    }
};

struct Stepper {
    const Matrix *matrix;
    const double *at;
    std::size_t offset;

    void step(std::size_t dimension)
    {
        if (dimension >= offset) at += matrix->strides[dimension - offset];
    }
    void step_back(std::size_t dimension, std::ptrdiff_t n)
    {
        if (dimension >= offset) at -= n * matrix->strides[dimension - offset];
    }
    void reset(std::size_t dimension)
    {
        if (dimension >= offset) at -= matrix->backstrides[dimension - offset];
    }
};

struct Product : Sharable {
    const Matrix &left;
    const Matrix &right;
    std::size_t along;
};

// The sum of products along one dimension, from where the steppers are.
static __attribute__((noinline)) double along(Stepper &left, Stepper &right, const Product &product)
{
    const std::size_t dimension = product.along;
    const std::ptrdiff_t n = product.left.shape[dimension];
    double sum = *left.at * *right.at;
    for (std::ptrdiff_t i = 1; i < n; i++) {
        left.step(dimension);
        right.step(dimension);
        sum += *left.at * *right.at;
    }
    left.reset(dimension);
    right.step_back(dimension, n - 1);
    return sum;
}

static double sums(const double *x)
{
    Matrix a(ROWS, COLUMNS), b(ROWS, COLUMNS);
    for (int i = 0; i < SIZE; i++) {
        a.values[static_cast<std::size_t>(i)] = x[i];
        b.values[static_cast<std::size_t>(i)] = x[SIZE - 1 - i] * (1.0 + 0.5 * i);
    }
    double sum = 0.0;
    for (std::size_t dimension = 0; dimension < 2; dimension++) {
        const Product product{{}, a, b, dimension};
        Stepper left{&a, a.values.data(), 0}, right{&b, b.values.data(), 0};
        const double first = along(left, right, product);
        left.step(1 - dimension);
        right.step(1 - dimension);
        sum += first * first + along(left, right, product);
    }
    return sum;
}

static double point[SIZE];

static void setup()
{
    corpus_seed(101);
    corpus_fill(point, SIZE, 0.2, 1.0);
}

static const corpus_problem problem =
    CORPUS_OF_ARRAY("cpp_strides_beside_owner", sums, SIZE, point, setup, .fd_tolerance = 1e-6, .coordinates = CORPUS_ALL);

CORPUS_MAIN(&problem)
