// A spreadsheet: cells are variants (empty, number, text, formula) in a union, formulas refer to cells and ranges and
// are evaluated recursively on demand, results are kept in the cell. Active: the numbers. Loss = bottom line of a
// small plan.
#include "corpus.h"

enum kind { EMPTY, NUMBER, TEXT, FORMULA };
enum operation { SUM, PRODUCT, DIFFERENCE, MEAN, NET_PRESENT };

struct cell {
    enum kind kind;
    union {
        double number;
        char text[12];
        struct {
            unsigned char operation, evaluated;
            short first, last; // a range of cells, or two cells
            double result;
        } formula;
    } as;
};

static double cell_value(struct cell *cells, int at)
{
    struct cell *c = &cells[at];
    double sum = 0.0, factor = 1.0;
    switch (c->kind) {
    case NUMBER:
        return c->as.number;
    case EMPTY:
    case TEXT:
        return 0.0;
    case FORMULA:
        break;
    }
    if (c->as.formula.evaluated)
        return c->as.formula.result;
    int first = c->as.formula.first, last = c->as.formula.last;
    switch ((enum operation)c->as.formula.operation) {
    case SUM:
    case MEAN:
        for (int i = first; i <= last; i++)
            sum += cell_value(cells, i);
        if (c->as.formula.operation == MEAN)
            sum /= last - first + 1;
        break;
    case PRODUCT:
        sum = cell_value(cells, first) * cell_value(cells, last);
        break;
    case DIFFERENCE:
        sum = cell_value(cells, first) - cell_value(cells, last);
        break;
    case NET_PRESENT: // the rate stands in front of the range
        for (int i = first; i <= last; i++) {
            factor /= 1.0 + cell_value(cells, first - 1);
            sum += factor * cell_value(cells, i);
        }
        break;
    }
    c->as.formula.evaluated = 1;
    c->as.formula.result = sum;
    return sum;
}

static void set_formula(struct cell *c, enum operation operation, int first, int last)
{
    c->kind = FORMULA;
    c->as.formula.operation = (unsigned char)operation;
    c->as.formula.evaluated = 0;
    c->as.formula.first = (short)first;
    c->as.formula.last = (short)last;
    c->as.formula.result = 0.0;
}

// Row r: title, amount, price, revenue = amount * price, cost, profit = revenue - cost.
static double plan_value(const double *x, int rows, double rate)
{
    int total = 6 * rows;
    struct cell *cells = calloc((size_t)(total + rows + 4), sizeof(struct cell));
    for (int r = 0; r < rows; r++) {
        struct cell *row = cells + 6 * r;
        row[0].kind = TEXT;
        strcpy(row[0].as.text, "product");
        row[0].as.text[7] = (char)('a' + r);
        row[1].kind = row[2].kind = row[4].kind = NUMBER;
        row[1].as.number = x[3 * r];
        row[2].as.number = x[3 * r + 1];
        row[4].as.number = x[3 * r + 2];
        set_formula(&row[3], PRODUCT, 6 * r + 1, 6 * r + 2);
        set_formula(&row[5], DIFFERENCE, 6 * r + 3, 6 * r + 4);
    }
    cells[total].kind = NUMBER;
    cells[total].as.number = rate;
    for (int r = 0; r < rows; r++)
        set_formula(&cells[total + 1 + r], SUM, 6 * r + 5, 6 * r + 5);
    set_formula(&cells[total + rows + 1], NET_PRESENT, total + 1, total + rows);
    set_formula(&cells[total + rows + 2], MEAN, total + 1, total + rows);
    set_formula(&cells[total + rows + 3], PRODUCT, total + rows + 1, total + rows + 2);
    double result = cell_value(cells, total + rows + 3);
    free(cells);
    return result;
}

enum { ROWS = CORPUS_SIZE(15, 3), SIZE = 3 * ROWS + 1 };

static double point[SIZE];

static void setup(void)
{
    corpus_seed(217);
    corpus_fill(point, SIZE, 0.5, 1.5);
    point[SIZE - 1] = 0.06;
}

static double loss(const double *x)
{
    return plan_value(x, ROWS, x[3 * ROWS]);
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

static const struct corpus_problem problem = {
    .name = "spreadsheet",
    .size = SIZE,
    .point = point,
    .setup = setup,
    .value = value,
    .tangent = tangent,
    .gradient = gradient,
};

CORPUS_MAIN(&problem)
