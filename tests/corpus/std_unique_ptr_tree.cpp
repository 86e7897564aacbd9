// A tree of std::unique_ptr: Barnes-Hut potential of point masses on a line, the tree is built, filled with centres of
// mass, walked and destroyed inside the differentiated function.
//
// corpus: libc++ O0 O2
// corpus: link O2
#include <memory>

#include "corpus.hpp"

struct Node {
    double low, high, mass = 0.0, moment = 0.0;
    std::unique_ptr<Node> left, right;

    Node(double from, double to) : low(from), high(to) {}

    void add(double position, double weight, int depth)
    {
        mass += weight;
        moment += weight * position;
        if (depth == 0)
            return;
        double middle = 0.5 * (low + high);
        std::unique_ptr<Node> &child = position < middle ? left : right;
        if (!child)
            child = position < middle ? std::make_unique<Node>(low, middle) : std::make_unique<Node>(middle, high);
        child->add(position, weight, depth - 1);
    }

    double potential(double at) const
    {
        double distance = at - moment / mass;
        if ((!left && !right) || high - low < 0.5 * fabs(distance))
            return -mass / sqrt(distance * distance + 0.01);
        return (left ? left->potential(at) : 0.0) + (right ? right->potential(at) : 0.0);
    }
};

enum { COUNT = 9, SIZE = 2 * COUNT };

static double energy(const double *x)
{
    auto root = std::make_unique<Node>(0.0, 4.0);
    for (int i = 0; i < COUNT; i++)
        root->add(x[2 * i], x[2 * i + 1], 4);
    double sum = 0.0;
    for (int i = 0; i < COUNT; i++)
        sum += 0.5 * x[2 * i + 1] * root->potential(x[2 * i]);
    return sum;
}

static double point[SIZE];

static void setup()
{
    corpus_seed(37);
    for (int i = 0; i < COUNT; i++) {
        point[2 * i] = corpus_uniform(0.1, 3.9);
        point[2 * i + 1] = corpus_uniform(0.5, 1.5);
    }
}

static const corpus_problem problem = CORPUS_OF_ARRAY("std_unique_ptr_tree", energy, SIZE, point, setup,
                                                      .step = 0x1p-12, // the tree keeps its shape
                                                      .coordinates = CORPUS_ALL);

CORPUS_MAIN(&problem)
