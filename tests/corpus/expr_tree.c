// corpus: valgrind
// An expression parsed from a string into a binary tree of heap nodes, evaluated recursively for given variables:
//
//   expression = term { (+|-) term },  term = power { (*|/) power },  power = atom [ ^ integer ],
//   atom = number | letter | ( expression ) | function ( expression ),  function = s(in) | c(os) | e(xp) | l(og)
//
// Source of the grammar: Aho, Lam, Sethi, Ullman, "Compilers", chapter 2.
#include "corpus.h"

enum tag { NUMBER, VARIABLE, ADD, SUBTRACT, MULTIPLY, DIVIDE, POWER, CALL };

struct node {
    enum tag tag;
    char function;
    int exponent;
    double number;
    struct node *left, *right;
};

static struct node *make(enum tag tag, struct node *left, struct node *right)
{
    struct node *node = calloc(1, sizeof(struct node));
    if (!node)
        abort();
    node->tag = tag;
    node->left = left;
    node->right = right;
    return node;
}

static struct node *parse_sum(const char **text);

static struct node *parse_atom(const char **text)
{
    struct node *node;
    char c = **text;
    if (c == '(') {
        ++*text;
        node = parse_sum(text);
        ++*text;
    } else if (c >= '0' && c <= '9') {
        double number = 0.0, place = 1.0;
        for (; **text >= '0' && **text <= '9'; ++*text)
            number = 10.0 * number + (**text - '0');
        if (**text == '.')
            for (++*text; **text >= '0' && **text <= '9'; ++*text)
                number += (place *= 0.1) * (**text - '0');
        node = make(NUMBER, NULL, NULL);
        node->number = number;
    } else if (c >= 'A' && c <= 'Z') {
        ++*text;
        ++*text;
        node = make(CALL, parse_sum(text), NULL);
        node->function = c;
        ++*text;
    } else {
        ++*text;
        node = make(VARIABLE, NULL, NULL);
        node->exponent = c - 'a';
    }
    return node;
}

static struct node *parse_power(const char **text)
{
    struct node *node = parse_atom(text);
    if (**text == '^') {
        ++*text;
        node = make(POWER, node, NULL);
        node->exponent = *(*text)++ - '0';
    }
    return node;
}

static struct node *parse_product(const char **text)
{
    struct node *node = parse_power(text);
    while (**text == '*' || **text == '/') {
        enum tag tag = *(*text)++ == '*' ? MULTIPLY : DIVIDE;
        node = make(tag, node, parse_power(text));
    }
    return node;
}

static struct node *parse_sum(const char **text)
{
    struct node *node = parse_product(text);
    while (**text == '+' || **text == '-') {
        enum tag tag = *(*text)++ == '+' ? ADD : SUBTRACT;
        node = make(tag, node, parse_product(text));
    }
    return node;
}

static double evaluate(const struct node *node, const double *variables)
{
    double result, base;
    switch (node->tag) {
    case NUMBER:
        return node->number;
    case VARIABLE:
        return variables[node->exponent];
    case ADD:
        return evaluate(node->left, variables) + evaluate(node->right, variables);
    case SUBTRACT:
        return evaluate(node->left, variables) - evaluate(node->right, variables);
    case MULTIPLY:
        return evaluate(node->left, variables) * evaluate(node->right, variables);
    case DIVIDE:
        return evaluate(node->left, variables) / evaluate(node->right, variables);
    case POWER:
        base = evaluate(node->left, variables);
        result = 1.0;
        for (int i = 0; i < node->exponent; i++)
            result *= base;
        return result;
    case CALL:
        base = evaluate(node->left, variables);
        switch (node->function) {
        case 'S':
            return sin(base);
        case 'C':
            return cos(base);
        case 'E':
            return exp(base);
        default:
            return log(base);
        }
    }
    return 0.0;
}

static void destroy(struct node *node)
{
    if (!node)
        return;
    destroy(node->left);
    destroy(node->right);
    free(node);
}

static double formula(const char *text, const double *variables)
{
    struct node *root = parse_sum(&text);
    double value = evaluate(root, variables);
    destroy(root);
    return value;
}

enum { SIZE = 5 };

static double point[SIZE];

static void setup(void)
{
    static const double start[SIZE] = {0.7, 1.3, -0.4, 2.1, 0.9};
    corpus_copy(point, start, SIZE);
}

static const char text[] = "S(a*b)+(c-2.5)^3/(1+d*d)-E(0.25*a)*L(b+d)+e*(a+C(b-c))/(3.75+e^2)-c";

static double value(const double *x)
{
    return formula(text, x);
}

static double tangent(const double *x, const double *v)
{
    return __enzyme_fwddiff((void *)formula, enzyme_const, text, enzyme_dup, x, v);
}

static void gradient(const double *x, double *g)
{
    corpus_zero(g, SIZE);
    __enzyme_autodiff((void *)formula, enzyme_const, text, enzyme_dup, x, g);
}

static const struct corpus_problem problem = {
    .name = "expr_tree",
    .size = SIZE,
    .point = point,
    .setup = setup,
    .value = value,
    .tangent = tangent,
    .gradient = gradient,
    .coordinates = CORPUS_ALL,
};

CORPUS_MAIN(&problem)
