// Expression trees whose nodes hold the function that evaluates them: recursion through function pointers, of one argument
// and of two, on nodes from the heap. The tree is a small neural unit over the variables; the same subtree occurs twice.
#include "corpus.h"

enum { N = CORPUS_SIZE(7, 5) };

struct node {
    double (*evaluate)(const struct node *, const double *);
    const struct node *left, *right;
    double weight;
    int variable;
};

static double value_of(const struct node *n, const double *x)
{
    return n->evaluate(n, x);
}

static double variable(const struct node *n, const double *x)
{
    return n->weight * x[n->variable];
}

static double sum(const struct node *n, const double *x)
{
    return value_of(n->left, x) + n->weight * value_of(n->right, x);
}

static double product(const struct node *n, const double *x)
{
    return value_of(n->left, x) * value_of(n->right, x);
}

static double squash(const struct node *n, const double *x)
{
    return tanh(n->weight * value_of(n->left, x));
}

static struct node *make(double (*evaluate)(const struct node *, const double *), const struct node *left,
                         const struct node *right, double weight, int index)
{
    struct node *n = malloc(sizeof *n);
    *n = (struct node){evaluate, left, right, weight, index};
    return n;
}

static double tree(const double *x)
{
    struct node *made[4 * N];
    int count = 0;
    const struct node *top = made[count++] = make(variable, NULL, NULL, 0.5, 0);
    for (int i = 1; i < N; i++) {
        struct node *leaf = made[count++] = make(variable, NULL, NULL, 1.0 + 0.1 * i, i);
        struct node *inner = made[count++] = make(i % 2 ? sum : product, top, leaf, x[i - 1], 0);
        struct node *outer = made[count++] = make(squash, inner, NULL, 0.8, 0);
        top = outer;
    }
    struct node *twice = made[count++] = make(product, top, made[0], 0.0, 0);
    double result = value_of(twice, x) + value_of(top, x);
    for (int i = 0; i < count; i++)
        free(made[i]);
    return result;
}

static double point[N], shadow[N];

static void setup(void)
{
    corpus_seed(305);
    corpus_fill(point, N, 0.2, 1.0);
}

static double tangent(const double *x, const double *v)
{
    corpus_copy(shadow, v, N);
    return __enzyme_fwddiff((void *)tree, enzyme_dup, x, shadow);
}

static void gradient(const double *x, double *g)
{
    corpus_zero(g, N);
    __enzyme_autodiff((void *)tree, enzyme_dup, x, g);
}

static const struct corpus_problem problem = {
    .name = "calls_tree",
    .size = N,
    .point = point,
    .setup = setup,
    .value = tree,
    .tangent = tangent,
    .gradient = gradient,
    .coordinates = CORPUS_ALL,
};

CORPUS_MAIN(&problem)
