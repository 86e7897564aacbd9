// A number or a box in one place, at every level of optimisation: products of numbers, nested in std::variant by
// std::unique_ptr, moved through parameters and temporaries.
//
// corpus: libc++ O0 O2
#include <memory>
#include <variant>

#include "corpus.hpp"

struct Product;
struct Number {
    double value;
};
using Factor = std::variant<Number, std::unique_ptr<Product>>;
struct Product {
    Factor left, right;
};

static double value(const Factor &factor)
{
    if (const Number *number = std::get_if<Number>(&factor))
        return number->value;
    const Product &product = *std::get<1>(factor);
    return value(product.left) * value(product.right);
}

static Factor times(Factor a, Factor b) { return std::make_unique<Product>(Product{std::move(a), std::move(b)}); }

static double volume(const double *x)
{
    Factor tree = times(Number{x[0]}, times(Number{x[1]}, Number{x[2]}));
    return value(tree) + std::sin(value(times(Number{x[2]}, Number{3.0})));
}

static double point[3] = {0.6, 0.8, 0.4};
static const corpus_problem problem =
    CORPUS_OF_ARRAY("std_variant_boxes", volume, 3, point, nullptr, .step = 0x1p-9, .coordinates = CORPUS_ALL);

CORPUS_MAIN(&problem)
