// std::pmr containers in a monotonic buffer on the stack: a tridiagonal solve (Thomas algorithm) whose work vectors come
// from the buffer.
#include <array>
#include <cstddef>
#include <memory_resource>
#include <vector>

#include "corpus.hpp"

static constexpr int N = 8;

static double flow(const double *x)
{
    std::array<std::byte, 1024> buffer;
    std::pmr::monotonic_buffer_resource arena(buffer.data(), buffer.size());
    std::pmr::vector<double> upper(N, &arena), right(N, &arena), solution(N, &arena);
    double pivot = 2.0 + x[0];
    upper[0] = -1.0 / pivot;
    right[0] = x[N] / pivot;
    for (size_t i = 1; i < N; i++) {
        pivot = 2.0 + x[i] + upper[i - 1];
        upper[i] = -1.0 / pivot;
        right[i] = (0.1 * (double)i * x[N] + right[i - 1]) / pivot;
    }
    solution[N - 1] = right[N - 1];
    for (size_t i = N - 1; i-- > 0;)
        solution[i] = right[i] - upper[i] * solution[i + 1];
    double sum = 0.0;
    for (double s : solution)
        sum += s * s;
    return sum;
}

static double point[N + 1];

static void setup()
{
    corpus_seed(157);
    corpus_fill(point, N + 1, 0.1, 1.0);
}

static const corpus_problem problem =
    CORPUS_OF_ARRAY("std_pmr", flow, N + 1, point, setup, .coordinates = CORPUS_ALL);

CORPUS_MAIN(&problem)
