// xtensor: lazy expressions, broadcasting, views and reductions: an attention layer, softmax(Q K^T / sqrt d) V, by
// broadcasting.
#include <xtensor/xmath.hpp>
#include <xtensor/xtensor.hpp>
#include <xtensor/xview.hpp>

#include "corpus.hpp"

static constexpr size_t TOKENS = 3, WIDTH = 2, SIZE = 3 * TOKENS * WIDTH;

static xt::xtensor<double, 2> matrix(const double *x)
{
    xt::xtensor<double, 2> m = xt::zeros<double>({TOKENS, WIDTH});
    for (size_t i = 0; i < TOKENS; i++)
        for (size_t j = 0; j < WIDTH; j++)
            m(i, j) = x[WIDTH * i + j];
    return m;
}

static double attention(const double *x)
{
    xt::xtensor<double, 2> query = matrix(x), key = matrix(x + TOKENS * WIDTH),
                           content = matrix(x + 2 * TOKENS * WIDTH);
    double total = 0.0;
    for (size_t t = 0; t < TOKENS; t++) {
        xt::xtensor<double, 1> scores = xt::sum(xt::view(query, t, xt::all()) * key, {1}) / std::sqrt(2.0);
        xt::xtensor<double, 1> weights = xt::exp(scores - xt::amax(scores)());
        weights /= xt::sum(weights)();
        for (size_t j = 0; j < WIDTH; j++) {
            double out = xt::sum(weights * xt::view(content, xt::all(), j))();
            total += out * out * (1.0 + (double)t);
        }
    }
    return total;
}

static double point[SIZE];

static void setup()
{
    corpus_seed(113);
    corpus_fill(point, SIZE, -1.0, 1.0);
}

static const corpus_problem problem =
    CORPUS_OF_ARRAY("xtensor_expression", attention, SIZE, point, setup, .step = 0x1p-10, .coordinates = CORPUS_ALL);

CORPUS_MAIN(&problem)
