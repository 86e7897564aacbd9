// An own matrix class that owns its memory (new[], delete[], copy, move, assignment): the matrix exponential by scaling
// and squaring with a Taylor series, and the response of a compartment model.
#include <utility>

#include "corpus.hpp"

class Matrix
{
  public:
    explicit Matrix(int n) : size_(n), data_(new double[(size_t)(n * n)]()) {}
    Matrix(const Matrix &o) : Matrix(o.size_) { corpus_copy(data_, o.data_, (size_t)(size_ * size_)); }
    Matrix(Matrix &&o) noexcept : size_(std::exchange(o.size_, 0)), data_(std::exchange(o.data_, nullptr)) {}
    Matrix &operator=(Matrix o) noexcept
    {
        std::swap(size_, o.size_);
        std::swap(data_, o.data_);
        return *this;
    }
    ~Matrix() { delete[] data_; }

    double &operator()(int i, int j) { return data_[i * size_ + j]; }
    double operator()(int i, int j) const { return data_[i * size_ + j]; }
    int size() const { return size_; }

  private:
    int size_;
    double *data_;
};

static Matrix operator*(const Matrix &a, const Matrix &b)
{
    Matrix c(a.size());
    for (int i = 0; i < a.size(); i++)
        for (int k = 0; k < a.size(); k++)
            for (int j = 0; j < a.size(); j++)
                c(i, j) += a(i, k) * b(k, j);
    return c;
}

static Matrix exponential(const Matrix &a)
{
    Matrix term(a.size()), sum(a.size()), scaled = a;
    for (int i = 0; i < a.size(); i++) {
        term(i, i) = sum(i, i) = 1.0;
        for (int j = 0; j < a.size(); j++)
            scaled(i, j) /= 16.0;
    }
    for (int k = 1; k < 9; k++) {
        term = term * scaled;
        for (int i = 0; i < a.size(); i++)
            for (int j = 0; j < a.size(); j++) {
                term(i, j) /= k;
                sum(i, j) += term(i, j);
            }
    }
    for (int k = 0; k < 4; k++)
        sum = sum * sum;
    return sum;
}

enum { N = 3, SIZE = N * N };

static double response(const double *x)
{
    Matrix rates(N);
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            rates(i, j) = x[N * i + j];
    Matrix flow = exponential(rates);
    return flow(0, N - 1) * flow(1, 1) + flow(2, 0);
}

static double point[SIZE];

static void setup()
{
    corpus_seed(131);
    corpus_fill(point, SIZE, -1.0, 1.0);
}

static const corpus_problem problem =
    CORPUS_OF_ARRAY("cpp_matrix_raii", response, SIZE, point, setup, .coordinates = CORPUS_ALL);

CORPUS_MAIN(&problem)
