// corpus: valgrind
// An unbalanced binary search tree of active keys with payloads: insertion through a pointer to pointer, sums of
// subtrees updated on the way back, deletion of a few nodes, in-order traversal with an explicit stack. Loss =
// weighted quantiles.
#include "corpus.h"

struct node {
    double key, weight, below; // below: weight of the whole subtree
    struct node *child[2];
};

static void insert(struct node **link, double key, double weight)
{
    while (*link) {
        (*link)->below += weight;
        link = &(*link)->child[key > (*link)->key];
    }
    struct node *node = malloc(sizeof(*node));
    node->key = key;
    node->weight = node->below = weight;
    node->child[0] = node->child[1] = NULL;
    *link = node;
}

static struct node *remove_least(struct node **link)
{
    struct node *least;
    if ((*link)->child[0]) {
        least = remove_least(&(*link)->child[0]);
        (*link)->below -= least->weight;
        return least;
    }
    least = *link;
    *link = least->child[1];
    return least;
}

static void remove_root(struct node **link)
{
    struct node *old = *link;
    if (!old->child[0] || !old->child[1]) {
        *link = old->child[old->child[0] == NULL];
    } else {
        struct node *heir = remove_least(&old->child[1]);
        heir->child[0] = old->child[0];
        heir->child[1] = old->child[1];
        heir->below = old->below - old->weight;
        *link = heir;
    }
    free(old);
}

static double quantile(const struct node *node, double share)
{
    double target = share * node->below;
    while (node) {
        double left = node->child[0] ? node->child[0]->below : 0.0;
        if (target < left) {
            node = node->child[0];
        } else if (target < left + node->weight) {
            return node->key * (1.0 + 0.01 * (target - left) / node->weight);
        } else {
            target -= left + node->weight;
            node = node->child[1];
        }
    }
    return 0.0;
}

static void destroy(struct node *node)
{
    if (node) {
        destroy(node->child[0]);
        destroy(node->child[1]);
        free(node);
    }
}

static double quantile_loss(const double *keys, const double *weights, int count)
{
    struct node *root = NULL, *stack[64];
    double loss = 0.0, before = 0.0;
    int depth = 0;
    for (int i = 0; i < count; i++) {
        insert(&root, keys[i], weights[i]);
        if (i % 9 == 8)
            remove_root(&root);
        loss += quantile(root, 0.37);
    }
    for (struct node *node = root; node || depth > 0; node = node->child[1]) {
        while (node) {
            stack[depth++] = node;
            node = node->child[0];
        }
        node = stack[--depth];
        loss += (node->key - before) * (node->key - before) * node->weight;
        before = node->key;
    }
    destroy(root);
    return loss;
}

enum { COUNT = CORPUS_SIZE(60, 10), SIZE = 2 * COUNT };

static double point[SIZE];

static void setup(void)
{
    corpus_seed(196);
    corpus_fill(point, COUNT, -1.0, 1.0);
    corpus_fill(point + COUNT, COUNT, 0.5, 1.5);
}

static double value(const double *x)
{
    return quantile_loss(x, x + COUNT, COUNT);
}

static double tangent(const double *x, const double *v)
{
    return __enzyme_fwddiff((void *)quantile_loss, enzyme_dup, x, v, enzyme_dup, x + COUNT, v + COUNT, enzyme_const,
                            COUNT);
}

static void gradient(const double *x, double *g)
{
    corpus_zero(g, SIZE);
    __enzyme_autodiff((void *)quantile_loss, enzyme_dup, x, g, enzyme_dup, x + COUNT, g + COUNT, enzyme_const, COUNT);
}

static const struct corpus_problem problem = {
    .name = "search_tree",
    .size = SIZE,
    .point = point,
    .setup = setup,
    .value = value,
    .tangent = tangent,
    .gradient = gradient,
    .step = 0x1p-22, // order and quantile nodes stay the same
    .fd_tolerance = 1e-5, // rounding over a small step
};

CORPUS_MAIN(&problem)
