// corpus: levels O0 O1
// (from -O2 clang computes an address of active memory as an integer there, which is refused: E0203)
// A calculator's tree: numbers, names and boxes in one std::variant, beside the texts that name its functions,
// evaluated with a std::map of variables; std::optional where a name is not known.
#include <cmath>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <variant>

#include "corpus.hpp"

template <typename... T> struct Overloaded : T... {
    using T::operator()...;
};
template <typename... T> Overloaded(T...) -> Overloaded<T...>;

struct Sum;
struct Product;
struct Applied;
struct Number {
    double value;
};
struct Name {
    std::string text;
};
using Tree = std::variant<Number, Name, std::unique_ptr<Sum>, std::unique_ptr<Product>, std::unique_ptr<Applied>>;
struct Sum {
    Tree left, right;
};
struct Product {
    Tree left, right;
};
struct Applied {
    std::string function;
    Tree argument;
};
using Names = std::map<std::string, double>;
using Result = std::optional<double>;

static Result value(const Tree &tree, const Names &names)
{
    return std::visit(Overloaded{
                          [](const Number &number) -> Result { return number.value; },
                          [&](const Name &name) -> Result {
                              auto found = names.find(name.text);
                              if (found == names.end())
                                  return std::nullopt;
                              return found->second;
                          },
                          [&](const std::unique_ptr<Sum> &sum) -> Result {
                              Result left = value(sum->left, names), right = value(sum->right, names);
                              if (!left || !right)
                                  return {};
                              return *left + *right;
                          },
                          [&](const std::unique_ptr<Product> &product) -> Result {
                              Result left = value(product->left, names), right = value(product->right, names);
                              if (!left || !right)
                                  return {};
                              return *left * *right;
                          },
                          [&](const std::unique_ptr<Applied> &applied) -> Result {
                              Result at = value(applied->argument, names);
                              if (!at)
                                  return {};
                              return applied->function == "sin" ? std::sin(*at) : std::exp(*at);
                          },
                      },
                      tree);
}

static Tree sum(Tree a, Tree b) { return std::make_unique<Sum>(Sum{std::move(a), std::move(b)}); }
static Tree product(Tree a, Tree b) { return std::make_unique<Product>(Product{std::move(a), std::move(b)}); }
static Tree applied(std::string f, Tree a) { return std::make_unique<Applied>(Applied{std::move(f), std::move(a)}); }

static double evaluated(const double *x)
{
    Names names{{"alpha", x[0]}, {"beta", x[1]}, {"a_name_that_is_longer_than_short_ones", x[2]}};
    Tree tree = sum(product(Name{"alpha"}, applied("sin", product(Name{"beta"}, Number{x[3]}))),
                    applied("exp", product(Name{"a_name_that_is_longer_than_short_ones"}, Name{"alpha"})));
    Tree unknown = sum(Name{"gamma"}, Number{x[0]});
    return value(tree, names).value_or(0.0) + value(unknown, names).value_or(x[1] * x[1]);
}

static double point[4] = {0.6, 0.8, 0.4, 0.7};
static const corpus_problem problem =
    CORPUS_OF_ARRAY("std_variant_texts", evaluated, 4, point, nullptr, .step = 0x1p-9, .coordinates = CORPUS_ALL);

CORPUS_MAIN(&problem)
