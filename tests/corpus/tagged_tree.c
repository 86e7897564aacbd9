// corpus: levels O1 O2 O3 Og
// A tree whose child references are integers of pointer size with a tag in the lowest bits: leaf, sum, product, or a
// small inactive constant stored in the reference itself. Sums are shared by several parents. Loss = value of the
// root.
// Source of the technique: Gudeman, "Representing type information in dynamically typed languages" (1993).
#include "corpus.h"

enum tag { LEAF, SUM, PRODUCT, SMALL };

typedef uintptr_t ref;

struct pair {
    ref left, right;
    double weight;
};

static ref tagged(const void *pointer, enum tag tag)
{
    return (ref)pointer | (ref)tag;
}

static void *untagged(ref r)
{
    return (void *)(r & ~(ref)3);
}

static ref leaf(double value)
{
    double *cell = malloc(sizeof(double) * 2);
    cell[0] = value;
    cell[1] = 0.5 * value * value;
    return tagged(cell, LEAF);
}

static ref small_constant(int value)
{
    return (ref)value << 2 | SMALL;
}

static ref join(enum tag tag, ref left, ref right, double weight)
{
    struct pair *pair = malloc(sizeof(*pair));
    pair->left = left;
    pair->right = right;
    pair->weight = weight;
    return tagged(pair, tag);
}

static double evaluate(ref r)
{
    const struct pair *pair = untagged(r);
    switch ((enum tag)(r & 3)) {
    case LEAF:
        return ((const double *)untagged(r))[0] + ((const double *)untagged(r))[1];
    case SMALL:
        return (double)(r >> 2);
    case SUM:
        return evaluate(pair->left) + pair->weight * evaluate(pair->right);
    case PRODUCT:
        return sin(evaluate(pair->left)) * evaluate(pair->right) * pair->weight;
    }
    return 0.0;
}

static void destroy(ref r)
{
    if ((r & 3) == SMALL)
        return;
    if ((r & 3) != LEAF) {
        destroy(((struct pair *)untagged(r))->left);
        destroy(((struct pair *)untagged(r))->right);
    }
    free(untagged(r));
}

static ref build(const double *x, int count, int depth)
{
    if (count == 1)
        return leaf(x[0]);
    if (depth % 3 == 2)
        return join(SUM, build(x + 1, count - 1, depth + 1), small_constant(depth), x[0]);
    ref left = build(x, count / 2, depth + 1), right = build(x + count / 2, count - count / 2, depth + 1);
    return join(depth % 2 ? SUM : PRODUCT, left, right, 1.0 + 0.1 * depth);
}

static double tree_loss(const double *x, int count)
{
    ref root = build(x, count, 0);
    double loss = evaluate(root);
    destroy(root);
    return loss * loss;
}

enum { SIZE = CORPUS_SIZE(40, 6) };

static double point[SIZE];

static void setup(void)
{
    corpus_seed(222);
    corpus_fill(point, SIZE, 0.2, 1.0);
}

static double value(const double *x)
{
    return tree_loss(x, SIZE);
}

static double tangent(const double *x, const double *v)
{
    return __enzyme_fwddiff((void *)tree_loss, enzyme_dup, x, v, enzyme_const, SIZE);
}

static void gradient(const double *x, double *g)
{
    corpus_zero(g, SIZE);
    __enzyme_autodiff((void *)tree_loss, enzyme_dup, x, g, enzyme_const, SIZE);
}

static const struct corpus_problem problem = {
    .name = "tagged_tree",
    .size = SIZE,
    .point = point,
    .setup = setup,
    .value = value,
    .tangent = tangent,
    .gradient = gradient,
};

CORPUS_MAIN(&problem)
