// std::vector that grows by push_back inside the differentiated function: the trapezoidal arc length of a parametric
// curve r(t) = sum_k (a_k cos kt, b_k sin kt), sampled adaptively: a segment that bends more than a threshold is split.
//
// corpus: libc++ O0 O2
#include <vector>

#include "corpus.hpp"

struct Sample {
    double t, x, y;
};

static Sample sample(const double *c, double t)
{
    Sample s{t, 0.0, 0.0};
    for (int k = 0; k < 3; k++) {
        s.x += c[2 * k] * cos((k + 1) * t);
        s.y += c[2 * k + 1] * sin((k + 1) * t);
    }
    return s;
}

static double distance(const Sample &a, const Sample &b)
{
    return sqrt((a.x - b.x) * (a.x - b.x) + (a.y - b.y) * (a.y - b.y));
}

static void refine(const double *c, const Sample &a, const Sample &b, int depth, std::vector<Sample> &out)
{
    Sample middle = sample(c, 0.5 * (a.t + b.t));
    if (depth > 0 && distance(a, middle) + distance(middle, b) > 1.02 * distance(a, b)) {
        refine(c, a, middle, depth - 1, out);
        refine(c, middle, b, depth - 1, out);
    } else {
        out.push_back(b);
    }
}

static double arc_length(const double *c)
{
    std::vector<Sample> curve;
    curve.push_back(sample(c, 0.0));
    for (int i = 0; i < 8; i++) {
        Sample next = sample(c, (i + 1) * 0.75);
        refine(c, curve.back(), next, 3, curve);
    }
    double length = 0.0;
    for (size_t i = 1; i < curve.size(); i++)
        length += distance(curve[i - 1], curve[i]);
    return length;
}

enum { SIZE = 6 };
static double point[SIZE];

static void setup()
{
    corpus_seed(5);
    corpus_fill(point, SIZE, 0.3, 1.0);
}

static const corpus_problem problem = CORPUS_OF_ARRAY("std_vector_push", arc_length, SIZE, point, setup,
                                                      .step = 0x1p-14, // no segment passes the threshold
                                                      .fd_tolerance = 1e-6, .coordinates = CORPUS_ALL);

CORPUS_MAIN(&problem)
