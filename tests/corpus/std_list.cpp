// std::list: a vortex sheet. Segments that stretch beyond a limit get a new vortex in the middle (insert), weak ones
// are erased, then all move with the induced velocity of a desingularised Biot-Savart sum.
//
// corpus: libc++ O0 O2
#include <list>

#include "corpus.hpp"

struct Vortex {
    double x, y, strength;
};

static double impulse(const double *x)
{
    std::list<Vortex> sheet;
    for (int i = 0; i < 4; i++)
        sheet.push_back({x[3 * i] + i, x[3 * i + 1], x[3 * i + 2]});
    for (int step = 0; step < 3; step++) {
        for (auto left = sheet.begin(), right = std::next(left); right != sheet.end(); left = right++) {
            double dx = right->x - left->x, dy = right->y - left->y;
            if (dx * dx + dy * dy > 1.4)
                sheet.insert(right, {0.5 * (left->x + right->x), 0.5 * (left->y + right->y),
                                     0.1 * (left->strength + right->strength)});
        }
        for (auto it = sheet.begin(); it != sheet.end();)
            it = it->strength * it->strength < 1e-4 ? sheet.erase(it) : std::next(it);
        std::list<Vortex> moved;
        for (const Vortex &v : sheet) {
            Vortex next = v;
            for (const Vortex &w : sheet) {
                double dx = v.x - w.x, dy = v.y - w.y, r2 = dx * dx + dy * dy + 0.25;
                next.x -= 0.1 * w.strength * dy / r2;
                next.y += 0.1 * w.strength * dx / r2;
            }
            moved.push_back(next);
        }
        sheet.swap(moved);
    }
    double sum = 0.0;
    for (const Vortex &v : sheet)
        sum += v.strength * (v.y * v.y + 0.5 * v.x);
    return sum;
}

enum { SIZE = 12 };
static double point[SIZE];

static void setup()
{
    corpus_seed(29);
    corpus_fill(point, SIZE, 0.1, 0.7);
}

static const corpus_problem problem = CORPUS_OF_ARRAY("std_list", impulse, SIZE, point, setup,
                                                      .step = 0x1p-12, // no segment passes the limit
                                                      .coordinates = CORPUS_ALL);

CORPUS_MAIN(&problem)
