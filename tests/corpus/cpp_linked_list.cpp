// An own singly linked list template with iterators and a destructor, growing at the front: a continued fraction and
// its convergents.
#include "corpus.hpp"

template <class T> class List
{
  public:
    List() = default;
    List(const List &) = delete;
    List &operator=(const List &) = delete;
    ~List()
    {
        while (head_) {
            Node *next = head_->next;
            delete head_;
            head_ = next;
        }
    }
    void push(const T &value) { head_ = new Node{value, head_}; }
    template <class F, class R> R fold(F f, R start) const
    {
        for (const Node *node = head_; node; node = node->next)
            start = f(start, node->value);
        return start;
    }
    void reverse()
    {
        Node *done = nullptr;
        while (head_) {
            Node *next = head_->next;
            head_->next = done;
            done = head_;
            head_ = next;
        }
        head_ = done;
    }

  private:
    struct Node {
        T value;
        Node *next;
    };
    Node *head_ = nullptr;
};

struct Term {
    double numerator, denominator;
    int order;
};

enum { TERMS = 6 };

static double continued_fraction(const double *x)
{
    List<Term> terms;
    for (int i = 0; i < TERMS; i++)
        terms.push({x[2 * i], x[2 * i + 1] + i, i});
    double forward = terms.fold([](double tail, const Term &t) { return t.numerator / (t.denominator + tail); }, 0.0);
    terms.reverse();
    double backward =
        terms.fold([](double tail,
                      const Term &t) { return t.numerator * t.order / (t.denominator * t.denominator + tail * tail); },
                   0.1);
    return forward + backward;
}

static double point[2 * TERMS];

static void setup()
{
    corpus_seed(151);
    corpus_fill(point, 2 * (size_t)TERMS, 0.5, 1.5);
}

static const corpus_problem problem =
    CORPUS_OF_ARRAY("cpp_linked_list", continued_fraction, 2 * TERMS, point, setup, .coordinates = CORPUS_ALL);

CORPUS_MAIN(&problem)
