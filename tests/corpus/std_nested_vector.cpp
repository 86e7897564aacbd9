// Nested std::vector<std::vector<double>>: log-likelihood of a first-order hidden Markov model by the scaled forward
// algorithm (Rabiner 1989), with softmax rows.
//
// corpus: libc++ O0 O2
#include <vector>

#include "corpus.hpp"

using Matrix = std::vector<std::vector<double>>;

static Matrix softmax_rows(const double *x, size_t rows, size_t columns)
{
    Matrix m(rows, std::vector<double>(columns));
    for (size_t i = 0; i < rows; i++) {
        double sum = 0.0;
        for (size_t j = 0; j < columns; j++)
            sum += m[i][j] = exp(x[i * columns + j]);
        for (double &entry : m[i])
            entry /= sum;
    }
    return m;
}

static constexpr size_t STATES = 3, SYMBOLS = 4, SIZE = STATES * STATES + STATES * SYMBOLS;
static const int observed[] = {0, 2, 1, 3, 3, 0, 1, 2, 2, 0, 3, 1, 0, 0, 2};
static double point[SIZE];

static double log_likelihood(const double *x)
{
    Matrix transition = softmax_rows(x, STATES, STATES);
    Matrix emission = softmax_rows(x + STATES * STATES, STATES, SYMBOLS);
    std::vector<double> alpha(STATES, 1.0 / STATES);
    double total = 0.0;
    for (int symbol : observed) {
        std::vector<double> next(STATES, 0.0);
        double scale = 0.0;
        for (size_t j = 0; j < STATES; j++) {
            for (size_t i = 0; i < STATES; i++)
                next[j] += alpha[i] * transition[i][j];
            next[j] *= emission[j][(size_t)symbol];
            scale += next[j];
        }
        for (double &a : next)
            a /= scale;
        total += log(scale);
        alpha = std::move(next);
    }
    return total;
}

static void setup()
{
    corpus_seed(8);
    corpus_fill(point, SIZE, -1.0, 1.0);
}

static const corpus_problem problem =
    CORPUS_OF_ARRAY("std_nested_vector", log_likelihood, SIZE, point, setup, .coordinates = 6);

CORPUS_MAIN(&problem)
