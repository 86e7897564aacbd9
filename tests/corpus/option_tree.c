// A binomial tree for an American put, twice: recursively on a small tree with memoisation in a triangular table of
// flags and values, and by backward induction on a larger one. Loss = price + delta-like difference. All five inputs
// are active.
// Source: Cox, Ross, Rubinstein, J. Financial Economics 7 (1979).
#include "corpus.h"

struct tree {
    double spot, strike, up, down, probability, discount;
    int depth;
    unsigned char *known;
    double *value;
};

static double payoff(const struct tree *tree, int time, int ups)
{
    double price = tree->spot * pow(tree->up, ups) * pow(tree->down, time - ups);
    return price < tree->strike ? tree->strike - price : 0.0;
}

static double node_value(struct tree *tree, int time, int ups)
{
    int at = time * (time + 1) / 2 + ups;
    if (tree->known[at])
        return tree->value[at];
    double exercise = payoff(tree, time, ups), result = exercise;
    if (time < tree->depth) {
        double hold = tree->discount * (tree->probability * node_value(tree, time + 1, ups + 1) +
                                        (1.0 - tree->probability) * node_value(tree, time + 1, ups));
        result = hold > exercise ? hold : exercise;
    }
    tree->known[at] = 1;
    return tree->value[at] = result;
}

static double recursive_price(const double *x, int depth)
{
    size_t nodes = (size_t)((depth + 1) * (depth + 2) / 2);
    double dt = x[3] / depth, up = exp(x[2] * sqrt(dt));
    struct tree tree = {x[0], x[1], up, 1.0 / up, (exp(x[4] * dt) - 1.0 / up) / (up - 1.0 / up), exp(-x[4] * dt), depth,
                        calloc(nodes, 1), malloc(nodes * sizeof(double))};
    double price = node_value(&tree, 0, 0);
    free(tree.known);
    free(tree.value);
    return price;
}

static double induction_price(const double *x, int depth)
{
    double dt = x[3] / depth, up = exp(x[2] * sqrt(dt)), down = 1.0 / up;
    double p = (exp(x[4] * dt) - down) / (up - down), discount = exp(-x[4] * dt);
    double *v = malloc(sizeof(double) * (size_t)(depth + 1));
    for (int j = 0; j <= depth; j++)
        v[j] = fmax(x[1] - x[0] * pow(up, 2 * j - depth), 0.0);
    for (int t = depth - 1; t >= 0; t--)
        for (int j = 0; j <= t; j++)
            v[j] = fmax(discount * (p * v[j + 1] + (1.0 - p) * v[j]), x[1] - x[0] * pow(up, 2 * j - t));
    double price = v[0];
    free(v);
    return price;
}

static double price_loss(const double *x, int small, int large)
{
    double a = recursive_price(x, small), b = induction_price(x, large);
    return b + (a - b) * (a - b);
}

enum { SIZE = 5 };

static double point[SIZE] = {98.3, 101.7, 0.27, 0.83, 0.04}; // spot, strike, volatility, years, rate

static void setup(void)
{
}

static double value(const double *x)
{
    return price_loss(x, CORPUS_SIZE(12, 3), CORPUS_SIZE(61, 4));
}

static double tangent(const double *x, const double *v)
{
    return __enzyme_fwddiff((void *)price_loss, enzyme_dup, x, v, enzyme_const, CORPUS_SIZE(12, 3), enzyme_const,
                            CORPUS_SIZE(61, 4));
}

static void gradient(const double *x, double *g)
{
    corpus_zero(g, SIZE);
    __enzyme_autodiff((void *)price_loss, enzyme_dup, x, g, enzyme_const, CORPUS_SIZE(12, 3), enzyme_const,
                      CORPUS_SIZE(61, 4));
}

static const struct corpus_problem problem = {
    .name = "option_tree",
    .size = SIZE,
    .point = point,
    .setup = setup,
    .value = value,
    .tangent = tangent,
    .gradient = gradient,
    .coordinates = CORPUS_ALL,
    .step = 0x1p-22, // the exercise boundary stays the same
    .fd_tolerance = 2e-5, // rounding over a small step
};

CORPUS_MAIN(&problem)
