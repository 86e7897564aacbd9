// A binary tree whose references are integers that hold a pointer and, in the lowest bit, whether it is a leaf: the
// shadow of such a reference is the shadow pointer with the same bit.
//
//   value of an inner node = sin(left) * weight + right
#include "corpus.h"

typedef uintptr_t reference;

struct leaf {
    double value;
};

struct node {
    reference left, right;
    double weight;
};

static reference build(const double *x, int count)
{
    if (count == 1) {
        struct leaf *leaf = malloc(sizeof(*leaf));
        leaf->value = x[0];
        return (reference)leaf | 1;
    }
    struct node *node = malloc(sizeof(*node));
    node->left = build(x, count / 2);
    node->right = build(x + count / 2, count - count / 2);
    node->weight = x[count / 2];
    return (reference)node;
}

static double evaluate(reference tree)
{
    if (tree & 1)
        return ((struct leaf *)(tree & ~(reference)1))->value;
    struct node *node = (struct node *)tree;
    return sin(evaluate(node->left)) * node->weight + evaluate(node->right);
}

static void destroy(reference tree)
{
    if (!(tree & 1)) {
        destroy(((struct node *)tree)->left);
        destroy(((struct node *)tree)->right);
    }
    free((void *)(tree & ~(reference)1));
}

static double tree_value(const double *x, int count)
{
    reference tree = build(x, count);
    double value = evaluate(tree);
    destroy(tree);
    return value * value;
}

enum { SIZE = CORPUS_SIZE(200, 13) };

static double point[SIZE];

static void setup(void)
{
    corpus_seed(91);
    corpus_fill(point, SIZE, 0.2, 0.9);
}

static double value(const double *x)
{
    return tree_value(x, SIZE);
}

static double tangent(const double *x, const double *v)
{
    return __enzyme_fwddiff((void *)tree_value, enzyme_dup, x, v, enzyme_const, SIZE);
}

static void gradient(const double *x, double *g)
{
    corpus_zero(g, SIZE);
    __enzyme_autodiff((void *)tree_value, enzyme_dup, x, g, enzyme_const, SIZE);
}

static const struct corpus_problem problem = {
    .name = "tagged_pointers",
    .size = SIZE,
    .point = point,
    .setup = setup,
    .value = value,
    .tangent = tangent,
    .gradient = gradient,
};

CORPUS_MAIN(&problem)
