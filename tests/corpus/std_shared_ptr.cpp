// std::shared_ptr: an expression graph with shared subexpressions, built by overloaded operators and evaluated with
// virtual functions: Rosenbrock's function of two variables plus a coupling.
//
// corpus: libc++ O0 O2
#include <memory>

#include "corpus.hpp"

struct Expression {
    virtual ~Expression() = default;
    virtual double evaluate() const = 0;
};

using Ref = std::shared_ptr<const Expression>;

struct Leaf final : Expression {
    double value;
    explicit Leaf(double v) : value(v) {}
    double evaluate() const override { return value; }
};

struct Binary final : Expression {
    char operation;
    Ref left, right;
    Binary(char o, Ref l, Ref r) : operation(o), left(std::move(l)), right(std::move(r)) {}
    double evaluate() const override
    {
        double a = left->evaluate(), b = right->evaluate();
        return operation == '+' ? a + b : operation == '-' ? a - b : a * b;
    }
};

static Ref leaf(double v)
{
    return std::make_shared<Leaf>(v);
}

static Ref operator+(Ref a, Ref b)
{
    return std::make_shared<Binary>('+', std::move(a), std::move(b));
}

static Ref operator-(Ref a, Ref b)
{
    return std::make_shared<Binary>('-', std::move(a), std::move(b));
}

static Ref operator*(Ref a, Ref b)
{
    return std::make_shared<Binary>('*', std::move(a), std::move(b));
}

static double rosenbrock(const double *x)
{
    Ref a = leaf(x[0]), b = leaf(x[1]), one = leaf(1.0);
    Ref valley = b - a * a, slope = one - a;
    Ref total = leaf(100.0) * valley * valley + slope * slope;
    return (total + valley * slope).get()->evaluate();
}

static double point[2] = {-0.7, 1.3};
static const corpus_problem problem =
    CORPUS_OF_ARRAY("std_shared_ptr", rosenbrock, 2, point, nullptr, .coordinates = CORPUS_ALL);

CORPUS_MAIN(&problem)
