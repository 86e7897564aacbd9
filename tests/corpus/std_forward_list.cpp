// std::forward_list and std::stack: sparse polynomials as sorted lists of terms, multiplied by insertion, and a Horner
// scheme from a stack.
//
// corpus: libc++ O0 O2
#include <forward_list>
#include <stack>

#include "corpus.hpp"

struct Term {
    int power;
    double factor;
};

using Polynomial = std::forward_list<Term>;

static void add(Polynomial &p, Term term)
{
    auto before = p.before_begin();
    for (auto it = p.begin(); it != p.end() && it->power <= term.power; before = it++)
        if (it->power == term.power) {
            it->factor += term.factor;
            return;
        }
    p.insert_after(before, term);
}

static double product_at(const double *x)
{
    Polynomial a, b, c;
    for (int i = 0; i < 3; i++) {
        add(a, {2 * i, x[i]});
        add(b, {3 * (2 - i), x[3 + i]});
    }
    for (const Term &s : a)
        for (const Term &t : b)
            add(c, {s.power + t.power, s.factor * t.factor});
    std::stack<Term> order;
    for (const Term &t : c)
        order.push(t);
    double sum = 0.0;
    int power = order.top().power;
    while (!order.empty()) {
        for (; power > order.top().power; power--)
            sum *= x[6];
        sum += order.top().factor;
        order.pop();
    }
    return sum;
}

static double point[7] = {0.5, -0.8, 1.1, 0.4, 0.9, -0.6, 0.85};
static const corpus_problem problem =
    CORPUS_OF_ARRAY("std_forward_list", product_at, 7, point, nullptr, .coordinates = CORPUS_ALL);

CORPUS_MAIN(&problem)
