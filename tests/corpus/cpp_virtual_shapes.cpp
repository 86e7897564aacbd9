// Virtual functions through owning base pointers in a std::vector: mass and moment of inertia of an assembly of parts.
#include <memory>
#include <vector>

#include "corpus.hpp"

class Part
{
  public:
    virtual ~Part() = default;
    virtual double mass() const = 0;
    virtual double inertia() const { return 0.4 * mass(); }
};

class Ball : public Part
{
  public:
    explicit Ball(double radius) : radius_(radius) {}
    double mass() const override { return 4.18879 * radius_ * radius_ * radius_; }
    double inertia() const override { return 0.4 * mass() * radius_ * radius_; }

  private:
    double radius_;
};

class Rod : public Part
{
  public:
    Rod(double length, double density) : length_(length), density_(density) {}
    double mass() const override { return length_ * density_; }
    double inertia() const override { return mass() * length_ * length_ / 12.0; }

  protected:
    double length_, density_;
};

class OffsetRod final : public Rod
{
  public:
    OffsetRod(double length, double density, double offset) : Rod(length, density), offset_(offset) {}
    double inertia() const override { return Rod::inertia() + mass() * offset_ * offset_; }

  private:
    double offset_;
};

static double frequency(const double *x)
{
    std::vector<std::unique_ptr<Part>> parts;
    parts.push_back(std::make_unique<Ball>(x[0]));
    parts.push_back(std::make_unique<Rod>(x[1], x[2]));
    parts.push_back(std::make_unique<OffsetRod>(x[3], x[4], x[5]));
    double mass = 0.0, inertia = 0.0;
    for (const auto &part : parts) {
        mass += part->mass();
        inertia += part->inertia();
    }
    return sqrt(9.81 * mass / inertia);
}

static double point[6] = {0.4, 1.2, 0.8, 0.9, 1.1, 0.35};
static const corpus_problem problem =
    CORPUS_OF_ARRAY("cpp_virtual_shapes", frequency, 6, point, nullptr, .coordinates = CORPUS_ALL);

CORPUS_MAIN(&problem)
