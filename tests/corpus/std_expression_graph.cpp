// A calculation given as a graph of named nodes, each with the names of those that it takes: a hash table of structures with a
// number and a vector of strings, evaluated recursively. With libstdc++ the characters of a short name lie where further on in the node of
// a table the numbers lie, and what appends or inserts characters moves them within the string.
#include <string>
#include <unordered_map>
#include <vector>

#include "corpus.hpp"

struct Node {
    double value;
    std::vector<std::string> takes;
};

using Graph = std::unordered_map<std::string, Node>;

static double evaluate(Graph &graph, const std::string &name)
{
    const Node &node = graph[name];
    double sum = node.value;
    for (const std::string &other : node.takes)
        sum += tanh(evaluate(graph, other)) / (double)other.size();
    return sum;
}

static double graph_value(const double *x)
{
    Graph graph;
    for (int i = 0; i < 8; i++) {
        Node node{x[i] * x[i], {}};
        for (int j = i & 1; j < i; j += 2)
            node.takes.push_back("v" + std::to_string(j));
        graph["v" + std::to_string(i)] = node;
    }
    return evaluate(graph, "v7") + evaluate(graph, "v6");
}

static double point[8] = {0.3, 0.9, 0.5, 0.2, 0.7, 0.4, 0.8, 0.6};
static const corpus_problem problem =
    CORPUS_OF_ARRAY("std_expression_graph", graph_value, 8, point, nullptr, .coordinates = CORPUS_ALL);

CORPUS_MAIN(&problem)
