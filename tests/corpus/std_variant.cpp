// std::variant and std::visit: a signed-distance scene of circles, boxes and half-planes blended smoothly; its value at
// some points.
//
// corpus: libc++ O0 O2
// corpus: link O2
#include <variant>
#include <vector>

#include "corpus.hpp"

struct Circle {
    double x, y, radius;
};
struct Box {
    double x, y, width, height;
};
struct HalfPlane {
    double angle, offset;
};
using Shape = std::variant<Circle, Box, HalfPlane>;

struct Distance {
    double px, py;
    double operator()(const Circle &c) const
    {
        return sqrt((px - c.x) * (px - c.x) + (py - c.y) * (py - c.y)) - c.radius;
    }
    double operator()(const Box &b) const
    {
        double dx = fabs(px - b.x) - b.width, dy = fabs(py - b.y) - b.height;
        double ox = fmax(dx, 0.0), oy = fmax(dy, 0.0);
        return sqrt(ox * ox + oy * oy + 1e-6) + fmin(fmax(dx, dy), 0.0);
    }
    double operator()(const HalfPlane &h) const { return px * cos(h.angle) + py * sin(h.angle) - h.offset; }
};

static double blended(const double *x)
{
    std::vector<Shape> scene;
    scene.emplace_back(Circle{x[0], x[1], x[2]});
    scene.emplace_back(Box{x[3], x[4], x[5], x[6]});
    scene.emplace_back(HalfPlane{x[7], x[8]});
    double total = 0.0;
    for (int i = 0; i < 9; i++) {
        double sum = 0.0;
        for (const Shape &shape : scene)
            sum += exp(-4.0 * std::visit(Distance{0.5 * (i % 3) - 0.41, 0.5 * (i / 3) - 0.33}, shape));
        total -= log(sum) / 4.0;
    }
    if (const Circle *circle = std::get_if<Circle>(&scene[0]))
        total += circle->radius * circle->radius;
    return total;
}

static double point[9] = {0.2, -0.1, 0.4, 0.55, 0.6, 0.21, 0.17, 0.7, -0.3};
static const corpus_problem problem =
    CORPUS_OF_ARRAY("std_variant", blended, 9, point, nullptr, .step = 0x1p-9, .coordinates = CORPUS_ALL);

CORPUS_MAIN(&problem)
