// Move semantics: batches of particles are moved from stage to stage, emplaced into a container that reallocates,
// swapped and returned by value; the bunch length behind a linear accelerator.
#include <memory>
#include <utility>
#include <vector>

#include "corpus.hpp"

struct Batch {
    std::unique_ptr<double[]> position, momentum;
    size_t count;

    explicit Batch(size_t n) : position(new double[n]), momentum(new double[n]), count(n) {}
};

static Batch source(const double *x, size_t first, size_t count)
{
    Batch b(count);
    for (size_t i = 0; i < count; i++) {
        b.position[i] = x[2] * ((double)(first + i) - 4.5);
        b.momentum[i] = x[3] * sin((double)(first + i));
    }
    return b;
}

static Batch cavity(Batch b, double voltage, double phase)
{
    for (size_t i = 0; i < b.count; i++)
        b.momentum[i] += voltage * sin(phase + b.position[i]);
    return b;
}

static Batch drift(Batch &&b, double length)
{
    for (size_t i = 0; i < b.count; i++)
        b.position[i] += length * b.momentum[i];
    return std::move(b);
}

static double bunch_length(const double *x)
{
    std::vector<Batch> batches;
    for (size_t k = 0; k < 5; k++)
        batches.emplace_back(source(x, 2 * k, 2));
    for (Batch &b : batches)
        b = drift(cavity(std::move(b), x[0], x[1]), x[4]);
    std::swap(batches.front(), batches.back());
    batches.push_back(cavity(std::move(batches.front()), 0.5 * x[0], -x[1]));
    batches.erase(batches.begin());
    double sum = 0.0, square = 0.0;
    for (const Batch &b : batches)
        for (size_t i = 0; i < b.count; i++) {
            sum += b.position[i] / 10.0;
            square += (b.position[i] * b.position[i] + 0.1 * b.momentum[i] * b.momentum[i]) / 10.0;
        }
    return square - sum * sum;
}

static double point[5] = {0.8, 0.3, 0.2, 0.1, 0.7};
static const corpus_problem problem =
    CORPUS_OF_ARRAY("cpp_move_pipeline", bunch_length, 5, point, nullptr, .coordinates = CORPUS_ALL);

CORPUS_MAIN(&problem)
