// Atomic sums as C++20 writes them: std::atomic<double> with +=, -=, fetch_add and fetch_sub, std::atomic_ref on a
// histogram, and the sum before an addition used. Charges are spread on a grid, and their moments summed.
//
// corpus: levels O0 O1 O2 O3 Og Oz
// corpus: libc++ O0 O2
#include <atomic>

#include "corpus.hpp"

namespace {

constexpr int CHARGES = 6, CELLS = 5, SIZE = 2 * CHARGES;

double spread(const double *x)
{
    double grid[CELLS] = {};
    std::atomic<double> total{0.0}, moment{1.0};
    std::atomic<double> before{0.0};
    for (int i = 0; i < CHARGES; i++) {
        double place = x[i] * (CELLS - 1), charge = x[CHARGES + i];
        int cell = static_cast<int>(place);
        double share = place - cell;
        std::atomic_ref<double>(grid[cell]).fetch_add(charge * (1.0 - share));
        std::atomic_ref<double>(grid[(cell + 1) % CELLS]).fetch_add(charge * share);
        total += charge;
        moment.fetch_sub(charge * x[i], std::memory_order_relaxed);
        before.fetch_add(total.fetch_add(0.5 * x[i]) * charge);
    }
    double sum = total.load() * moment.load() + before;
    for (int i = 0; i < CELLS; i++)
        sum += grid[i] * grid[i] * (i + 1);
    return sum;
}

double point[SIZE];

void setup()
{
    for (int i = 0; i < CHARGES; i++) {
        point[i] = 0.07 + 0.141 * i;
        point[CHARGES + i] = 0.9 + 0.17 * ((5 * i + 1) % CHARGES);
    }
}

const corpus_problem problem = CORPUS_OF_ARRAY("atomic_sums", spread, SIZE, point, setup, .coordinates = CORPUS_ALL);

} // namespace

CORPUS_MAIN(&problem)
