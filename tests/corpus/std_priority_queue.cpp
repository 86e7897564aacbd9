// std::priority_queue: Dijkstra's shortest paths on a grid graph whose edge weights are functions of parameters; the
// length of the shortest path with respect to them (by the envelope theorem the sum over the path taken).
//
// corpus: libc++ O0 O2
#include <queue>
#include <vector>

#include "corpus.hpp"

enum { WIDTH = 5, HEIGHT = 4 };

static double shortest(const double *x)
{
    using Entry = std::pair<double, int>;
    std::vector<double> distance(WIDTH * HEIGHT, 1e9);
    std::priority_queue<Entry, std::vector<Entry>, std::greater<>> queue;
    distance[0] = 0.0;
    queue.emplace(0.0, 0);
    while (!queue.empty()) {
        auto [so_far, node] = queue.top();
        queue.pop();
        if (so_far > distance[(size_t)node])
            continue;
        const int column = node % WIDTH, row = node / WIDTH;
        const int moves[4][2] = {{1, 0}, {0, 1}, {-1, 0}, {0, -1}};
        for (auto [right, down] : moves) {
            int c = column + right, r = row + down;
            if (c < 0 || c >= WIDTH || r < 0 || r >= HEIGHT)
                continue;
            double height = x[0] * sin(c * x[1]) + x[2] * cos(r * x[3]);
            double length = so_far + 1.0 + height * height;
            size_t next = (size_t)(r * WIDTH + c);
            if (length < distance[next]) {
                distance[next] = length;
                queue.emplace(length, (int)next);
            }
        }
    }
    return distance.back();
}

static double point[4] = {0.9, 1.3, 0.8, 0.7};
static const corpus_problem problem = CORPUS_OF_ARRAY("std_priority_queue", shortest, 4, point, nullptr,
                                                      .step = 0x1p-12, // the path stays
                                                      .coordinates = CORPUS_ALL);

CORPUS_MAIN(&problem)
