// What an object is found out at run time: dynamic_cast down, across two bases and to a virtual base, of references with
// a handler for those that do not fit, and typeid. A scene of shapes of which some move, some bend light, and some do both.
#include <memory>
#include <typeinfo>
#include <vector>

#include "corpus.hpp"

namespace {

struct Shape {
    double mass = 1.0;
    virtual ~Shape() = default;
    virtual double area() const = 0;
};

struct Moving {
    double speed = 0.0;
    virtual ~Moving() = default;
    virtual double energy(double mass) const { return 0.5 * mass * speed * speed; }
};

struct Refracting {
    double index = 1.5;
    virtual ~Refracting() = default;
};

struct Disc : virtual Shape {
    double radius;
    explicit Disc(double r) : radius(r) {}
    double area() const override { return 3.0 * radius * radius; }
};

struct Plate : virtual Shape, Moving {
    double width, height;
    Plate(double w, double h) : width(w), height(h) {}
    double area() const override { return width * height; }
};

struct Lens : Disc, Moving, Refracting {
    explicit Lens(double r) : Disc(r) {}
    double energy(double mass) const override { return Moving::energy(mass) + index; }
};

constexpr int SIZE = 8;

double scene(const double *x)
{
    std::vector<std::unique_ptr<Shape>> shapes;
    for (int i = 0; i < 6; i++) {
        if (i % 3 == 0)
            shapes.push_back(std::make_unique<Disc>(x[i]));
        else if (i % 3 == 1)
            shapes.push_back(std::make_unique<Plate>(x[i], x[i + 1]));
        else
            shapes.push_back(std::make_unique<Lens>(x[i]));
        shapes.back()->mass = x[(i + 3) % SIZE];
        if (auto *moving = dynamic_cast<Moving *>(shapes.back().get()))
            moving->speed = x[6] * (i + 1);
    }
    double sum = 0.0;
    int refused = 0;
    for (const auto &shape : shapes) {
        sum += shape->area();
        if (const auto *moving = dynamic_cast<const Moving *>(shape.get())) {
            sum += moving->energy(shape->mass);
            if (const auto *bends = dynamic_cast<const Refracting *>(moving))
                sum += bends->index * x[7];
            if (const auto *again = dynamic_cast<const Shape *>(moving))
                sum += again->mass * again->area();
        }
        try {
            dynamic_cast<Refracting &>(*shape).index += x[7] * x[7];
            sum += dynamic_cast<Lens &>(*shape).index * dynamic_cast<Lens &>(*shape).radius;
        } catch (const std::bad_cast &) {
            refused++;
        }
        if (typeid(*shape) == typeid(Plate))
            sum += static_cast<const Plate *>(dynamic_cast<const void *>(shape.get()))->width;
    }
    return sum + refused;
}

double point[SIZE];

void setup()
{
    for (int i = 0; i < SIZE; i++)
        point[i] = 0.7 + 0.1 * ((3 * i + 1) % SIZE) + 0.013 * i;
}

const corpus_problem problem = CORPUS_OF_ARRAY("object_casts", scene, SIZE, point, setup, .coordinates = CORPUS_ALL);

} // namespace

CORPUS_MAIN(&problem)
