// Numbers and addresses in one place: some come from calls that may throw, others from elements that move about.
//
// corpus: libc++ O0 O2
// corpus: coverage O0
#include <cmath>
#include <stdexcept>

#include "corpus.hpp"

struct Item {
    bool boxed;
    union {
        double number;
        const double *box;
    };
};

__attribute__((noinline)) static double measured(double x)
{
    if (x > 1e6)
        throw std::range_error("out of range");
    return x * std::sin(x);
}

__attribute__((noinline)) static const double *found(const double *x, int k)
{
    if (k > 1000)
        throw std::out_of_range("no such element");
    return x + k;
}

static double exchange(const double *x, int n)
{
    Item items[8];
    double sum = 0.0;
    for (int i = 0; i < 8; i++) {
        items[i].boxed = i & 1;
        if (items[i].boxed)
            items[i].box = x + i % n;
        else
            items[i].number = x[i % n] * x[(i + 1) % n];
    }
    try {
        for (int t = 0; t < 20; t++) {
            int i = t * 5 % 8, j = (t * 3 + 1) % 8;
            Item next;
            if (t % 3 == 0) {
                next.boxed = false;
                next.number = measured(x[t % n]);
            } else if (t % 3 == 1) {
                next.boxed = true;
                next.box = found(x, t % n);
            } else {
                next = items[j];
            }
            Item last = items[i];
            items[i] = next;
            sum += last.boxed ? *last.box * 2.0 : std::cos(last.number);
        }
    } catch (const std::exception &) {
        return -1.0;
    }
    for (const Item &item : items)
        sum += item.boxed ? *item.box * *item.box : item.number;
    return sum;
}

static double of_five(const double *x) { return exchange(x, 5); }

static double point[5] = {0.3, 0.7, 1.1, 0.2, 0.9};
static const corpus_problem problem =
    CORPUS_OF_ARRAY("unions_thrown", of_five, 5, point, nullptr, .step = 0x1p-9, .coordinates = CORPUS_ALL);

CORPUS_MAIN(&problem)
