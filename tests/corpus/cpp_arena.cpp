// Placement new in an own arena, and over-aligned types: nodes of a binary expression are built in a char buffer and
// evaluated from there.
#include <cstddef>
#include <new>

#include "corpus.hpp"

class Arena {
  public:
    explicit Arena(size_t size) : begin_(static_cast<char *>(::operator new(size))), used_(0) {}
    Arena(const Arena &) = delete;
    ~Arena() { ::operator delete(begin_); }

    template <class T, class... A> T *make(A... arguments)
    {
        used_ = (used_ + alignof(T) - 1) / alignof(T) * alignof(T);
        T *made = new (begin_ + used_) T{arguments...};
        used_ += sizeof(T);
        return made;
    }

  private:
    char *begin_;
    size_t used_;
};

struct Node {
    char operation;
    double value;
    Node *left, *right;
};

struct alignas(32) Packet {
    double lane[4];
};

static double evaluate(const Node *node)
{
    switch (node->operation) {
    case '+':
        return evaluate(node->left) + evaluate(node->right);
    case '*':
        return evaluate(node->left) * evaluate(node->right);
    default:
        return node->value;
    }
}

static double formula(const double *x)
{
    Arena arena(1024);
    Node *zero = nullptr, *sum = arena.make<Node>('=', x[0], zero, zero);
    for (int i = 1; i < 4; i++) {
        Node *leaf = arena.make<Node>('=', sin(x[i]), zero, zero);
        sum = arena.make<Node>(i % 2 ? '*' : '+', 0.0, sum, leaf);
    }
    Packet *packets = new Packet[2];
    for (int i = 0; i < 8; i++)
        packets[i / 4].lane[i % 4] = x[i % 4] * (i + 1);
    double product = evaluate(sum);
    for (int i = 0; i < 4; i++)
        product += packets[0].lane[i] * packets[1].lane[3 - i];
    delete[] packets;
    return product;
}

static double point[4] = {0.6, 1.2, 0.5, 0.9};
static const corpus_problem problem =
    CORPUS_OF_ARRAY("cpp_arena", formula, 4, point, nullptr, .coordinates = CORPUS_ALL);

CORPUS_MAIN(&problem)
