// Documents of dynamic values, as JSON libraries keep them: a tag and a union of number, integer, text and array of
// values, copied by assignment, exchanged and freed recursively. A nested bill of materials is priced with quantities
// and discounts. Active: the prices.
#include "corpus.h"

enum type { NUMBER, COUNT_OF, TEXT, ARRAY };

struct value {
    enum type type;
    int length; // of text or array
    union {
        double number;
        long count;
        char *text;
        struct value *items;
    } as;
};

static struct value number(double v)
{
    return (struct value){.type = NUMBER, .as.number = v};
}

static struct value count_of(long n)
{
    return (struct value){.type = COUNT_OF, .as.count = n};
}

static struct value text(const char *s)
{
    struct value v = {.type = TEXT, .length = (int)strlen(s)};
    v.as.text = malloc((size_t)v.length + 1);
    strcpy(v.as.text, s);
    return v;
}

static struct value array(int length)
{
    struct value v = {.type = ARRAY, .length = length};
    v.as.items = calloc((size_t)length, sizeof(struct value));
    return v;
}

static void destroy(struct value *v)
{
    if (v->type == TEXT)
        free(v->as.text);
    if (v->type == ARRAY) {
        for (int i = 0; i < v->length; i++)
            destroy(&v->as.items[i]);
        free(v->as.items);
    }
}

// An array is [name, count, part, part, ...]; a part is a price or an array.
static struct value assembly(const char *name, const double *prices, int parts, int depth)
{
    struct value v = array(parts + 2);
    v.as.items[0] = text(name);
    v.as.items[1] = count_of(1 + depth);
    for (int i = 0; i < parts; i++)
        v.as.items[2 + i] = depth > 0 && i % 2 ? assembly("part", prices + i, parts, depth - 1) : number(prices[i]);
    return v;
}

static double price(const struct value *v)
{
    double sum = 0.0, count = 1.0;
    switch (v->type) {
    case NUMBER:
        return v->as.number * (1.0 - 0.05 * v->as.number);
    case COUNT_OF:
    case TEXT:
        return 0.0;
    case ARRAY:
        for (int i = 0; i < v->length; i++) {
            const struct value *item = &v->as.items[i];
            if (item->type == COUNT_OF)
                count = (double)item->as.count;
            else if (item->type == TEXT)
                sum += 0.01 * item->length;
            else
                sum += price(item);
        }
        return sum * count;
    }
    return 0.0;
}

static double bill(const double *prices, int parts, int depth)
{
    struct value root = assembly("machine", prices, parts, depth), exchanged;
    double loss = price(&root);
    exchanged = root.as.items[2];
    root.as.items[2] = root.as.items[3];
    root.as.items[3] = exchanged;
    destroy(&root.as.items[3]);
    root.as.items[3] = number(0.1 * loss);
    loss += price(&root) * loss;
    destroy(&root);
    return loss * 0.01;
}

enum { PARTS = 4, DEPTH = CORPUS_SIZE(4, 2), SIZE = PARTS + 3 * DEPTH };

static double point[SIZE];

static void setup(void)
{
    corpus_seed(228);
    corpus_fill(point, SIZE, 0.5, 1.5);
}

static double value(const double *x)
{
    return bill(x, PARTS, DEPTH);
}

static double tangent(const double *x, const double *v)
{
    return __enzyme_fwddiff((void *)bill, enzyme_dup, x, v, enzyme_const, PARTS, enzyme_const, DEPTH);
}

static void gradient(const double *x, double *g)
{
    corpus_zero(g, SIZE);
    __enzyme_autodiff((void *)bill, enzyme_dup, x, g, enzyme_const, PARTS, enzyme_const, DEPTH);
}

static const struct corpus_problem problem = {
    .name = "json_value",
    .size = SIZE,
    .point = point,
    .setup = setup,
    .value = value,
    .tangent = tangent,
    .gradient = gradient,
};

CORPUS_MAIN(&problem)
