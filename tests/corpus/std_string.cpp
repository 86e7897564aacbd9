// std::string in an active function: an arithmetic formula in reverse Polish notation is built by concatenation,
// tokenised and evaluated; numbers of the formula name variables.
//
// corpus: libc++ O0 O2
#include <string>
#include <vector>

#include "corpus.hpp"

static double evaluate(const std::string &formula, const double *x)
{
    std::vector<double> stack;
    size_t at = 0;
    while (at < formula.size()) {
        size_t end = formula.find(' ', at);
        if (end == std::string::npos)
            end = formula.size();
        std::string token = formula.substr(at, end - at);
        at = end + 1;
        if (token[0] == 'x') {
            stack.push_back(x[std::stoi(token.substr(1))]);
        } else if (token == "sin") {
            stack.back() = sin(stack.back());
        } else {
            double right = stack.back();
            stack.pop_back();
            double &left = stack.back();
            left = token == "+" ? left + right : token == "*" ? left * right : left / right;
        }
    }
    return stack.back();
}

static double sum_of_formulas(const double *x)
{
    std::string formula = "x0";
    for (int i = 1; i < 5; i++)
        formula += " x" + std::to_string(i) + (i % 2 ? " * sin" : " +");
    return evaluate(formula, x) + evaluate("x0 x1 * x2 x3 + /", x);
}

static double point[5] = {0.8, 1.1, 0.6, 0.9, 0.4};
static const corpus_problem problem =
    CORPUS_OF_ARRAY("std_string", sum_of_formulas, 5, point, nullptr, .coordinates = CORPUS_ALL);

CORPUS_MAIN(&problem)
