// Expression templates: vector sums and products as trees of types, evaluated element by element: a leapfrog step of a
// discretised string with a nonlinear restoring force.
#include "corpus.hpp"

// What the operators take: a type that says it is an expression.
template <class E>
concept Expression = requires { typename E::IsExpression; };

template <class Left, class Right, class Operation> struct Node {
    using IsExpression = void;
    const Left &left;
    const Right &right;
    double operator[](int i) const { return Operation::apply(left[i], right[i]); }
};

struct Plus {
    static double apply(double a, double b) { return a + b; }
};
struct Times {
    static double apply(double a, double b) { return a * b; }
};
struct Constant {
    using IsExpression = void;
    double value;
    double operator[](int) const { return value; }
};

enum { CELLS = 10 };

struct Field {
    using IsExpression = void;
    double cell[CELLS];
    double operator[](int i) const { return cell[i]; }
    template <Expression E> Field &operator=(const E &e)
    {
        for (int i = 0; i < CELLS; i++)
            cell[i] = e[i];
        return *this;
    }
};

template <class E> struct Shifted {
    using IsExpression = void;
    const E &inner;
    int by;
    double operator[](int i) const { return inner[(i + by + CELLS) % CELLS]; }
};

template <Expression A, Expression B> Node<A, B, Plus> operator+(const A &a, const B &b)
{
    return {a, b};
}
template <Expression A, Expression B> Node<A, B, Times> operator*(const A &a, const B &b)
{
    return {a, b};
}

static double energy(const double *x)
{
    Field u, v, kick;
    for (int i = 0; i < CELLS; i++) {
        u.cell[i] = x[i];
        v.cell[i] = x[CELLS + i];
    }
    for (int step = 0; step < 10; step++) {
        kick = Constant{0.1} *
               (Shifted<Field>{u, 1} + Shifted<Field>{u, -1} + Constant{-2.0} * u + Constant{-0.3} * u * u * u);
        v = v + kick;
        u = u + Constant{0.1} * v;
    }
    double sum = 0.0;
    for (int i = 0; i < CELLS; i++)
        sum += (Constant{0.5} * v * v + u * Shifted<Field>{u, 1})[i];
    return sum;
}

static double point[2 * CELLS];

static void setup()
{
    corpus_seed(137);
    corpus_fill(point, 2 * (size_t)CELLS, -1.0, 1.0);
}

static const corpus_problem problem =
    CORPUS_OF_ARRAY("cpp_expression_templates", energy, 2 * CELLS, point, setup, .coordinates = 8);

CORPUS_MAIN(&problem)
