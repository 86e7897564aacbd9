// std::span over the caller's memory: cross-entropy of a linear classifier whose rows are subspans, with a stable log-
// sum-exp.
//
// corpus: libc++ O0 O2
#include <algorithm>
#include <span>
#include <vector>

#include "corpus.hpp"

static constexpr size_t CLASSES = 3, FEATURES = 4, EXAMPLES = 8, SIZE = CLASSES * FEATURES;
static double point[SIZE], data[EXAMPLES * FEATURES];

static double dot(std::span<const double> a, std::span<const double> b)
{
    double sum = 0.0;
    for (size_t i = 0; i < a.size(); i++)
        sum += a[i] * b[i];
    return sum;
}

static double cross_entropy(std::span<const double> weights, std::span<const double> inputs)
{
    double loss = 0.0;
    std::vector<double> scores(CLASSES);
    for (size_t n = 0; n < EXAMPLES; n++) {
        std::span row = inputs.subspan(n * FEATURES, FEATURES);
        for (size_t c = 0; c < CLASSES; c++)
            scores[c] = dot(weights.subspan(c * FEATURES, FEATURES), row);
        double top = *std::max_element(scores.begin(), scores.end()), sum = 0.0;
        for (double score : scores)
            sum += exp(score - top);
        loss += log(sum) + top - scores[n % CLASSES];
    }
    return loss / static_cast<double>(EXAMPLES);
}

static double objective(const double *x)
{
    return cross_entropy(std::span(x, SIZE), data);
}

static void setup()
{
    corpus_seed(2);
    corpus_fill(point, SIZE, -1.0, 1.0);
    corpus_fill(data, EXAMPLES * FEATURES, -1.0, 1.0);
}

static const corpus_problem problem =
    CORPUS_OF_ARRAY("std_span", objective, SIZE, point, setup, .step = 0x1p-10, .coordinates = CORPUS_ALL);

CORPUS_MAIN(&problem)
