// corpus: levels O0 O1 O2 O3
// (smaller code moves them word by word through phis, which is refused when it runs: E0301)
// Lists of things of different kinds, in vectors of std::variant: shapes whose areas are summed, and a drawing program
// of moves, turns, scalings and repeated groups of these, which are moved and copied as the vectors grow.
//
//   loss = sum of areas + the square of where the pen is in the end
//
// Source: Papert, "Mindstorms: children, computers, and powerful ideas" (1980), for the pen.
#include <cmath>
#include <functional>
#include <numeric>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "corpus.hpp"

namespace
{

template <typename... T> struct Overloaded : T... {
    using T::operator()...;
};
template <typename... T> Overloaded(T...) -> Overloaded<T...>;

struct Circle {
    double radius;
};
struct Rectangle {
    double width, height;
};
struct Product {
    std::vector<double> factors;
};
using Shape = std::variant<Circle, Rectangle, Product>;

double area(const Shape &shape)
{
    return std::visit(Overloaded{
                          [](const Circle &circle) { return 3.0 * circle.radius * circle.radius; },
                          [](const Rectangle &rectangle) { return rectangle.width * rectangle.height; },
                          [](const Product &product) {
                              return std::accumulate(product.factors.begin(), product.factors.end(), 1.0,
                                                     std::multiplies<>());
                          },
                      },
                      shape);
}

double areas(const double *x, int n)
{
    std::vector<Shape> shapes;
    for (int i = 0; i < n; i++)
        if (i % 3 == 0)
            shapes.push_back(Circle{x[i]});
        else if (i % 3 == 1)
            shapes.push_back(Rectangle{x[i], x[i - 1]});
        else
            shapes.push_back(Product{{x[i], x[0], x[1]}});
    double total = 0.0;
    for (const Shape &shape : shapes)
        total += area(shape);
    return total;
}

struct Point {
    double x, y;
};
struct Move {
    double x, y;
};
struct Turn {
    double angle;
};
struct Scale {
    double by;
    std::optional<double> aspect;
};
struct Group {
    std::vector<std::variant<Move, Turn, Scale>> steps;
    int times;
};
using Step = std::variant<Move, Turn, Scale, Group>;

Point after(Point at, const Move &move)
{
    return {at.x + move.x, at.y + move.y};
}

Point after(Point at, const Turn &turn)
{
    double c = std::cos(turn.angle), s = std::sin(turn.angle);
    return {c * at.x - s * at.y, s * at.x + c * at.y};
}

Point after(Point at, const Scale &scale)
{
    return {at.x * scale.by, at.y * scale.by * scale.aspect.value_or(1.0)};
}

Point after(Point at, const Group &group)
{
    for (int i = 0; i < group.times; i++)
        for (const auto &step : group.steps)
            at = std::visit([&](const auto &one) { return after(at, one); }, step);
    return at;
}

double pen(const double *x)
{
    std::vector<Step> program;
    program.push_back(Move{x[0], x[1]});
    program.push_back(Turn{x[2]});
    program.push_back(Scale{x[3], {}});
    program.push_back(Scale{0.5, x[4]});
    Group group{{}, 2};
    group.steps.push_back(Turn{0.1 * x[5]});
    group.steps.push_back(Move{x[6], -1.0});
    program.push_back(group);
    program.push_back(std::move(group));
    program.emplace_back(Move{0.0, x[7]});
    Point at{1.0, 0.5};
    for (const Step &step : program)
        at = std::visit([&](const auto &one) { return after(at, one); }, step);
    return at.x * at.x + 2.0 * at.y;
}

double listed(const double *x)
{
    return areas(x, 8) + pen(x);
}

double point[8] = {0.6, 0.8, 0.4, 0.7, 1.2, 0.9, 1.1, 0.5};
const corpus_problem problem =
    CORPUS_OF_ARRAY("std_variant_lists", listed, 8, point, nullptr, .step = 0x1p-9, .coordinates = CORPUS_ALL);

} // namespace

CORPUS_MAIN(&problem)
