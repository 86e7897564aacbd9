// corpus: valgrind
// Polynomials as linked lists of terms, in descending order of exponents: product, sum and derivative make new lists,
// terms of equal exponent are merged, and lists are freed when they are no longer needed.
//
//   loss = r(t)^2 + r'(t),  r = p q + p
#include "corpus.h"

typedef struct term {
    double coefficient;
    int exponent;
    struct term *next;
} term;

static term *new_term(double coefficient, int exponent, term *next)
{
    term *t = malloc(sizeof(term));
    if (!t)
        exit(1);
    t->coefficient = coefficient;
    t->exponent = exponent;
    t->next = next;
    return t;
}

static void free_list(term *head)
{
    while (head) {
        term *next = head->next;
        free(head);
        head = next;
    }
}

static void add_term(term **head, double coefficient, int exponent)
{
    while (*head && (*head)->exponent > exponent)
        head = &(*head)->next;
    if (*head && (*head)->exponent == exponent)
        (*head)->coefficient += coefficient;
    else
        *head = new_term(coefficient, exponent, *head);
}

static term *from_array(const double *coefficients, int count)
{
    term *head = NULL;
    for (int i = 0; i < count; i++)
        head = new_term(coefficients[i], i, head);
    return head;
}

static term *multiply(const term *a, const term *b)
{
    term *product = NULL;
    for (const term *i = a; i; i = i->next)
        for (const term *j = b; j; j = j->next)
            add_term(&product, i->coefficient * j->coefficient, i->exponent + j->exponent);
    return product;
}

static term *derivative(const term *a)
{
    term *head = NULL, **tail = &head;
    for (; a && a->exponent > 0; a = a->next) {
        *tail = new_term(a->coefficient * a->exponent, a->exponent - 1, NULL);
        tail = &(*tail)->next;
    }
    return head;
}

static double evaluate(const term *a, double t)
{
    double value = 0.0;
    int exponent = a ? a->exponent : 0;
    for (; a; a = a->next) {
        for (; exponent > a->exponent; exponent--)
            value *= t;
        value += a->coefficient;
    }
    for (; exponent > 0; exponent--)
        value *= t;
    return value;
}

static double polynomial_loss(const double *p, int np, const double *q, int nq, double t)
{
    term *a = from_array(p, np), *b = from_array(q, nq);
    term *product = multiply(a, b);
    free_list(b);
    for (const term *i = a; i; i = i->next)
        add_term(&product, i->coefficient, i->exponent);
    free_list(a);
    term *slope = derivative(product);
    double value = evaluate(product, t);
    value = value * value + evaluate(slope, t);
    free_list(slope);
    free_list(product);
    return value;
}

enum { NP = CORPUS_SIZE(12, 4), NQ = CORPUS_SIZE(9, 3), SIZE = NP + NQ + 1 };

static double point[SIZE];

static void setup(void)
{
    corpus_seed(101);
    corpus_fill(point, SIZE, -1.0, 1.0);
    point[SIZE - 1] = 0.9;
}

static double loss(const double *x)
{
    return polynomial_loss(x, NP, x + NP, NQ, x[NP + NQ]);
}

static double value(const double *x)
{
    return loss(x);
}

static double tangent(const double *x, const double *v)
{
    return __enzyme_fwddiff((void *)loss, enzyme_dup, x, v);
}

static void gradient(const double *x, double *g)
{
    corpus_zero(g, SIZE);
    __enzyme_autodiff((void *)loss, enzyme_dup, x, g);
}

static void gradient_plain(const double *x, double *g)
{
    corpus_zero(g, SIZE);
    __enzyme_autodiff((void *)loss, x, g);
}

static const struct corpus_problem problem = {
    .name = "linked_poly",
    .size = SIZE,
    .point = point,
    .setup = setup,
    .value = value,
    .tangent = tangent,
    .gradient = gradient,
    .variants = {{.name = "gradient without annotations", .gradient = gradient_plain}},
    .coordinates = CORPUS_ALL,
};

CORPUS_MAIN(&problem)
