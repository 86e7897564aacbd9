// Potentials in a network of resistors, stored as adjacency lists: each node holds a linked list of edges to its
// neighbours. Node potentials relax by Gauss-Seidel; two nodes are held fixed. Active: the conductances.
//
//   v_i = sum_j g_ij v_j / sum_j g_ij,   loss = dissipated power = sum_edges g_ij (v_i - v_j)^2
#include "corpus.h"

struct edge {
    int to;
    double conductance;
    struct edge *next;
};

struct node {
    struct edge *first;
    double potential;
    int fixed;
};

static void connect(struct node *nodes, int from, int to, double conductance)
{
    struct edge *edge = malloc(sizeof(struct edge));
    edge->to = to;
    edge->conductance = conductance;
    edge->next = nodes[from].first;
    nodes[from].first = edge;
}

static void relax(struct node *nodes, int count)
{
    for (int i = 0; i < count; i++) {
        if (nodes[i].fixed || !nodes[i].first)
            continue;
        double numerator = 0.0, denominator = 0.0;
        for (const struct edge *e = nodes[i].first; e != NULL; e = e->next) {
            numerator += e->conductance * nodes[e->to].potential;
            denominator += e->conductance;
        }
        nodes[i].potential = numerator / denominator;
    }
}

static double power(const double *conductances, int count, const int (*edges)[2], int edge_count, int sweeps)
{
    struct node *nodes = calloc((size_t)count, sizeof(struct node));
    for (int k = 0; k < edge_count; k++) {
        connect(nodes, edges[k][0], edges[k][1], conductances[k]);
        connect(nodes, edges[k][1], edges[k][0], conductances[k]);
    }
    nodes[0].fixed = nodes[count - 1].fixed = 1;
    nodes[0].potential = 1.0;
    for (int sweep = 0; sweep < sweeps; sweep++)
        relax(nodes, count);

    double total = 0.0;
    for (int i = 0; i < count; i++) {
        struct edge *e = nodes[i].first;
        while (e) {
            double drop = nodes[i].potential - nodes[e->to].potential;
            struct edge *next = e->next;
            total += 0.5 * e->conductance * drop * drop;
            e = next;
        }
    }
    for (int i = 0; i < count; i++)
        for (struct edge *e = nodes[i].first, *next; e; e = next) {
            next = e->next;
            free(e);
        }
    free(nodes);
    return total;
}

enum { NODES = CORPUS_SIZE(20, 5), SIZE = 2 * NODES - 3, SWEEPS = CORPUS_SIZE(15, 4) };

static double point[SIZE];
static int edges[SIZE][2];

static void setup(void)
{
    corpus_seed(103);
    int count = 0;
    for (int i = 0; i < NODES; i++)
        for (int step = 1; step <= 2; step++)
            if (i + step < NODES) {
                edges[count][0] = i;
                edges[count][1] = i + step;
                count++;
            }
    corpus_fill(point, SIZE, 0.5, 2.0);
}

static double value(const double *x)
{
    return power(x, NODES, (const int (*)[2])edges, SIZE, SWEEPS);
}

static double tangent(const double *x, const double *v)
{
    return __enzyme_fwddiff((void *)power, enzyme_dup, x, v, enzyme_const, NODES, enzyme_const, (const int (*)[2])edges,
                            enzyme_const, SIZE, enzyme_const, SWEEPS);
}

static void gradient(const double *x, double *g)
{
    corpus_zero(g, SIZE);
    __enzyme_autodiff((void *)power, enzyme_dup, x, g, enzyme_const, NODES, enzyme_const, (const int (*)[2])edges,
                      enzyme_const, SIZE, enzyme_const, SWEEPS);
}

static const struct corpus_problem problem = {
    .name = "resistor_graph",
    .size = SIZE,
    .point = point,
    .setup = setup,
    .value = value,
    .tangent = tangent,
    .gradient = gradient,
};

CORPUS_MAIN(&problem)
