// aborts[E0301]: a number that is moved as boxes and texts are, by copies of bytes that were taken for these
// levels: O0
#include <cmath>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <variant>

extern int enzyme_dup;
void __enzyme_autodiff(void *, ...);

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

int main()
{
    double x[4] = {0.6, 0.8, 0.4, 0.7}, g[4] = {0.0, 0.0, 0.0, 0.0};
    __enzyme_autodiff((void *)evaluated, enzyme_dup, x, g);
    return std::fabs(g[3] - 0.6 * 0.8 * std::cos(0.8 * 0.7)) < 1e-12 ? 0 : 1;
}
